"""A stress run, and what it is worth: `make stress`.

Readers call `get` while another thread resets: our slot, and one that keeps a flag beside the
value. Without the interpreter lock the second must be seen torn. Where it is not, the zeros of the
first prove nothing, and the run fails.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence

from tests.benchmarks.torn_reads import (
    Form,
    SlotForm,
    SlowFinaliser,
    everywhere,
    is_free_threaded,
    measure,
    version,
)
from tests.primitives.two_fields import TwoFields

__all__ = ("OURS", "THEIRS", "main", "problems")

OURS = "SingletonSlot"
THEIRS = "two fields"
_FORMS: dict[str, Callable[[Callable[[], object]], Form]] = {THEIRS: TwoFields, OURS: SlotForm}


class Plain:
    """An instance whose end lets nobody in."""


_VALUES: dict[str, Callable[[], object]] = {
    "plain object": Plain,
    "slow finaliser": SlowFinaliser,
}


def problems(torn: Mapping[str, int], *, free_threaded: bool) -> list[str]:
    """Say what is wrong with a run.

    Args:
        torn: How many reads of each form were torn.
        free_threaded: Whether the interpreter has no global lock.
    """
    found: list[str] = []
    if torn[OURS]:
        found.append(f"{OURS} was torn {torn[OURS]:,} times")
    if free_threaded and not torn[THEIRS]:
        found.append(f"{THEIRS} were never torn: this run proves nothing; give it more seconds")
    return found


def measure_here(seconds: float) -> int:
    """Print this interpreter's lines of the table, and return 1 if something is wrong with them."""
    torn = dict.fromkeys(_FORMS, 0)
    for value, factory in _VALUES.items():
        for name, form in _FORMS.items():
            count = measure(form(factory), type(factory()), None, seconds)
            torn[name] += count.torn
            line = f"| {version()} | {name}, {value} | {count.calls:,} | {count.torn:,} |"
            print(line, flush=True)
    wrong = problems(torn, free_threaded=is_free_threaded())
    print(*wrong, sep="\n", end="\n" * bool(wrong), file=sys.stderr)
    return int(bool(wrong))


def main(arguments: Sequence[str]) -> int:
    """Print the table, and return 1 if something is wrong on any interpreter."""
    parser = argparse.ArgumentParser(prog="make stress", description=__doc__)
    parser.add_argument("--seconds", type=float, default=8.0, help="for each line of the table")
    parser.add_argument("--here", action="store_true", help="on this interpreter only")
    options = parser.parse_args(arguments)
    if options.here:
        return measure_here(options.seconds)
    print("| Python | form | reads | torn |\n|---|---|---:|---:|", flush=True)
    return everywhere("tests.benchmarks.stress", options.seconds)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
