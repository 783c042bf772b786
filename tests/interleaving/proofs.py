"""What is proved of the primitives. `python -m tests.interleaving.proofs` proves it in a table.

With `--deep` it also runs those proofs that take minutes.
"""

from __future__ import annotations

import platform
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass

import plugin_utils
from plugin_utils import SingletonError
from plugin_utils.testing.interleaving import Model, Result, explore
from tests.interleaving import models

__all__ = ("DEEP", "PROOFS", "Proof")


@dataclass(frozen=True)
class Proof:
    """A model that must pass every schedule.

    Args:
        name: What the threads do.
        model: Makes the model.
        schedules: How many schedules there are at least: an empty search proves nothing.
        bound: The greatest number of forced switches; None for all schedules that matter.
        allow: Errors that a thread may raise.
    """

    name: str
    model: Callable[[], Model]
    schedules: int
    bound: int | None = None
    allow: tuple[type[BaseException], ...] = ()

    def __str__(self) -> str:
        return self.name if self.bound is None else f"{self.name}, {self.bound} switches"

    def run(self, seconds: float) -> Result:
        """Run the model."""
        return explore(self.model(), bound=self.bound, allow=self.allow, seconds=seconds)


def _use(face: str, ops: str, schedules: int, *, built: bool = False) -> Proof:
    name = f"{face}: {' || '.join(ops.split())}{', built' * built}"
    return Proof(name, lambda: models.use(plugin_utils, face, ops, built=built), schedules)


def _circle(length: int, schedules: int, *, bound: int, closed: bool) -> Proof:
    return Proof(
        f"{'closed ' * closed}circle of {length}",
        lambda: models.circle(plugin_utils, length, closed=closed),
        schedules,
        bound,
        (SingletonError,),
    )


def _keyed(ops: str, schedules: int, *, bound: int, max_size: int | None = None) -> Proof:
    return Proof(
        f"keyed: {' || '.join(ops.split())}{f', max_size={max_size}' if max_size else ''}",
        lambda: models.keyed(plugin_utils, ops, max_size=max_size),
        schedules,
        bound,
    )


PROOFS = (
    _use("slot", "get get", 26),
    _use("slot", "get reset", 24),
    _use("slot", "get reset", 5, built=True),
    _use("slot", "get peek reset", 14, built=True),
    _use("slot", "get get reset", 177, built=True),
    _use("slot", "get get get", 3171),
    _use("slot", "reset expected", 24, built=True),
    _use("slot", "expected expected", 24, built=True),
    _use("accessor", "get get", 28),
    _use("accessor", "get reset", 24),
    _use("accessor", "get reset", 5, built=True),
    _use("accessor", "get peek reset", 14, built=True),
    _use("accessor", "get get reset", 185, built=True),
    _use("accessor", "get get get", 3252),
    _use("accessor", "reset expected", 24, built=True),
    _use("accessor", "expected expected", 24, built=True),
    Proof("close uses the slot", lambda: models.closing(plugin_utils), 40),
    Proof("a finaliser uses the slot", lambda: models.finalised(plugin_utils), 2),
    Proof("one slot needs another", lambda: models.chain(plugin_utils), 20),
    Proof("the first build fails", lambda: models.failing(plugin_utils), 20, bound=1),
    _circle(2, 60, bound=1, closed=False),
    _circle(2, 60, bound=1, closed=True),
    _circle(3, 10, bound=0, closed=True),
    _keyed("get:a get:a", 200, bound=1),
    _keyed("get:a get:b", 200, bound=1),
    _keyed("get:a reset:a", 90, bound=1),
    _keyed("get:a get:b", 200, bound=1, max_size=1),
)
DEEP = (
    _use("slot", "get get reset", 3240),
    _use("accessor", "get get reset", 3384),
    Proof("the first build fails", lambda: models.failing(plugin_utils), 400, bound=2),
    _circle(2, 3000, bound=2, closed=False),
    _circle(2, 3000, bound=2, closed=True),
    _circle(3, 2000, bound=1, closed=True),
    _keyed("get:a get:a", 2000, bound=2),
    _keyed("get:a reset:a", 2000, bound=2),
    _keyed("get:a get:b get:a", 2000, bound=1, max_size=1),
)


def main(proofs: tuple[Proof, ...]) -> None:
    """Print the table; exit with 1 if something is not proved."""
    free = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
    print(f"Python {platform.python_version()}{free}\n")
    print("| threads | schedules | proved | seconds |")
    print("|---|---:|---|---:|")
    failed = False
    for proof in proofs:
        result = proof.run(seconds=3600)
        held = result.proved and result.schedules >= proof.schedules
        failed = failed or not held
        print(
            f"| {proof} | {result.schedules} | {'yes' if held else result.failure} "
            f"| {result.seconds:.1f} |",
            flush=True,
        )
    sys.exit(failed)


if __name__ == "__main__":
    main(PROOFS + DEEP if "--deep" in sys.argv else PROOFS)
