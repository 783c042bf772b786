"""What is proved of the primitives: `make proofs` proves it on every interpreter.

`python -m tests.interleaving.proofs` proves it on this one; with `--deep` also what takes longer.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import plugin_utils
from plugin_utils import SingletonError
from plugin_utils.testing.interleaving import Model, Result, explore
from tests.interleaving import models, models_failure, models_keyed, models_lease

__all__ = ("DEEP", "PROOFS", "Proof", "Proved", "prove", "switches")


# What a thread may raise where that is the point.
_INTERRUPT = KeyboardInterrupt
_ERRORS = (ConnectionError,)


@dataclass(frozen=True)
class Proof:
    """A model that must pass every schedule.

    Args:
        name: What the threads do.
        model: Makes the model.
        promises: The numbers of the promises that it proves.
        schedules: How many schedules there are at least: an empty search proves nothing.
        bound: The greatest number of forced switches; None for all schedules that matter.
        allow: Errors that a thread may raise.
    """

    name: str
    model: Callable[[], Model]
    promises: tuple[int, ...]
    schedules: int
    bound: int | None = None
    allow: tuple[type[BaseException], ...] = ()

    def __str__(self) -> str:
        return self.name if self.bound is None else f"{self.name}, {switches(self.bound)}"

    def run(self, seconds: float) -> Result:
        """Run the model."""
        return explore(self.model(), bound=self.bound, allow=self.allow, seconds=seconds)


def switches(bound: int) -> str:
    """Say how many forced switches there are."""
    return f"{bound} switch{'es' * (bound != 1)}"


def _use(ops: str, promises: tuple[int, ...], schedules: int, *, built: bool = False) -> Proof:
    return _face("slot", ops, promises, schedules, built=built)


def _accessor(ops: str, promises: tuple[int, ...], schedules: int, *, built: bool = False) -> Proof:
    return _face("accessor", ops, promises, schedules, built=built)


def _face(
    face: str, ops: str, promises: tuple[int, ...], schedules: int, *, built: bool = False
) -> Proof:
    name = f"{face}: {' || '.join(ops.split())}{', built' * built}"
    model = partial(models.use, plugin_utils, face, ops, built=built)
    return Proof(name, model, promises, schedules)


def _circle(length: int, schedules: int, *, bound: int, closed: bool) -> Proof:
    model = partial(models.circle, plugin_utils, length, closed=closed)
    name = f"{'closed ' * closed}circle of {length}"
    return Proof(name, model, (8,), schedules, bound, (SingletonError,))


def _keyed(ops: str, schedules: int, *, bound: int, max_size: int | None = None) -> Proof:
    name = f"keyed: {' || '.join(ops.split())}{f', max_size={max_size}' if max_size else ''}"
    model = partial(models_keyed.keyed, plugin_utils, ops, max_size=max_size)
    return Proof(name, model, (22,) if max_size else (21,), schedules, bound)


def _of(model: Callable[..., Model], **options: object) -> Callable[[], Model]:
    return partial(model, plugin_utils, **options)


PROOFS = (
    _use("get get", (1,), 26),
    _use("get reset", (5, 6, 11), 24),
    _use("get reset", (5, 11), 5, built=True),
    _use("get peek reset", (5,), 14, built=True),
    _use("get get reset", (5, 11), 177, built=True),
    _use("get get get", (1,), 3171),
    _use("reset expected", (6, 11), 24, built=True),
    _use("expected expected", (6, 11), 24, built=True),
    _accessor("get get", (1,), 28),
    _accessor("get reset", (5, 6, 11), 24),
    _accessor("get reset", (5, 11), 5, built=True),
    _accessor("get peek reset", (5,), 14, built=True),
    _accessor("get get reset", (5, 11), 185, built=True),
    _accessor("get get get", (1,), 3252),
    _accessor("reset expected", (6, 11), 24, built=True),
    _accessor("expected expected", (6, 11), 24, built=True),
    Proof("get || a setting changes, then reset", _of(models.outdated, gets=1), (6,), 28),
    Proof("close uses the slot", _of(models.closing), (10, 11), 40),
    Proof("a finaliser uses the slot", _of(models.finalised), (10,), 2),
    Proof("lease || reset", _of(models_lease.leased, users=1), (11,), 40),
    Proof("one build waits for another", _of(models.independent, keyed=False), (13,), 1),
    Proof("every build fails, the error is shared", _of(models_failure.sharing), (2,), 20),
    Proof("the first build fails", _of(models_failure.failing), (2,), 156, bound=2),
    Proof(
        "the first build is interrupted",
        _of(models_failure.failing, error=_INTERRUPT),
        (3,),
        156,
        2,
    ),
    Proof(
        "a thread dies in its build",
        _of(models_failure.interrupted),
        (3,),
        24,
        None,
        (_INTERRUPT,),
    ),
    Proof("one slot needs another", _of(models.chain), (8,), 20),
    _circle(2, 40, bound=1, closed=False),
    _circle(2, 40, bound=1, closed=True),
    _circle(3, 500, bound=1, closed=True),
    _keyed("get:a get:a", 80, bound=1),
    _keyed("get:a get:b", 200, bound=1),
    _keyed("get:a reset:a", 25, bound=1),
    _keyed("get:a get:b", 200, bound=1, max_size=1),
    Proof("keyed: every build fails", _of(models_keyed.failing_key), (21,), 80, 1, _ERRORS),
    Proof("keyed: one build waits", _of(models.independent, keyed=True), (21,), 150, bound=1),
    Proof("keyed: lease:a || lease:b, max_size=1", _of(models_lease.leased_keys), (22,), 200, 1),
)
DEEP = (
    _use("get get reset", (1, 5, 6), 3240),
    _accessor("get get reset", (1, 5, 6), 3384),
    Proof("get || get || setting, reset", _of(models.outdated, gets=2), (6,), 1400, bound=2),
    Proof("lease || lease || reset", _of(models_lease.leased, users=2), (11,), 1800, bound=2),
    _circle(2, 400, bound=2, closed=False),
    _circle(2, 500, bound=2, closed=True),
    _keyed("get:a get:a", 2500, bound=2),
    _keyed("get:a reset:a", 400, bound=2),
    _keyed("get:a get:b get:a", 1000, bound=1, max_size=1),
)


def prove(proofs: Sequence[Proof]) -> Iterator[Proved]:
    """Run proofs, and yield how each has ended."""
    for proof in proofs:
        result = proof.run(seconds=3600)
        held = result.proved and result.schedules >= proof.schedules
        yield Proved(str(proof), result.schedules, "yes" if held else str(result), result.seconds)


class Proved(NamedTuple):
    """How a proof has ended.

    Args:
        proof: What was to be proved.
        schedules: How many schedules were run.
        verdict: "yes", or what was found.
        seconds: How long it took.
    """

    proof: str
    schedules: int
    verdict: str
    seconds: float


def main(arguments: Sequence[str]) -> int:
    """Print how each proof ends on this interpreter, a line of JSON each; 1 if one fails."""
    verdicts: set[str] = set()
    for proved in prove(PROOFS + DEEP if "--deep" in arguments else PROOFS):
        print(json.dumps(proved), flush=True)
        verdicts.add(proved.verdict)
    return 0 if verdicts == {"yes"} else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
