"""What a call that finds an instance costs, against a check written by hand: `make bench`.

All forms are timed in turns within one run, so that a slow spell of the machine hits all alike,
and each turn gives one ratio. The table shows the medians of the ratios.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import sysconfig
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from plugin_utils import SingletonSlot, lazy_singleton

__all__ = ("main",)

_ROUNDS = 60
_CALLS = 20_000
_STARTS = 40
_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    what: str
    median: float
    limit: float | None = None

    @property
    def within(self) -> bool:
        """Whether the limit is kept; what has none is there for comparison."""
        return self.limit is None or self.median <= self.limit

    def __str__(self) -> str:
        limit = "" if self.limit is None else f"{self.limit:.2f}"
        verdict = "" if self.limit is None else "kept" if self.within else "EXCEEDED"
        return f"{self.what:<44} {self.median:>6.2f} {limit:>6}  {verdict}".rstrip()


class Client:
    """Stands for something that is costly to build."""


_client: Client | None = None


def by_hand() -> Client:
    """Return the instance the way a plugin would without the library, and without a lock."""
    global _client  # noqa: PLW0603 - this is the form that is compared with
    if _client is not None:
        return _client
    _client = Client()  # plugin-utils: ignore[LS001] the form that is compared with
    return _client


accessor = lazy_singleton(Client)
cached = cache(Client)
slot: SingletonSlot[Client] = SingletonSlot()


def hits() -> list[Row]:
    """Time the forms in turns."""
    names = dict(globals())
    forms = {
        statement: timeit.Timer(statement, globals=names)
        for statement in ("by_hand()", "accessor()", "slot.get(Client)", "cached()")
    }
    times: dict[str, list[float]] = {statement: [] for statement in forms}
    for _ in range(_ROUNDS):
        for statement, timer in forms.items():
            times[statement].append(timer.timeit(_CALLS))
    base = times["by_hand()"]

    def row(statement: str, limit: float | None = None) -> Row:
        ratios = [time / hand for time, hand in zip(times[statement], base, strict=True)]
        return Row(statement, statistics.median(ratios), limit)

    # The limits are for the interpreter that specialises; a free-threaded 3.13 does not.
    limited = not sysconfig.get_config_var("Py_GIL_DISABLED")
    return [
        row("accessor()", 1.2 if limited else None),
        row("slot.get(Client)", 1.5 if limited else None),
        row("cached()"),
    ]


def imports() -> list[Row]:
    """Time a start that imports the library, and one that imports what it is measured by."""
    ours, usual = "import plugin_utils", "import threading, functools"
    times: dict[str, list[int]] = {ours: [], usual: []}
    for _ in range(_STARTS):
        for statement, collected in times.items():
            collected.append(_import_time(statement))
    ratios = [a / b for a, b in zip(times[ours], times[usual], strict=True)]
    return [Row("import plugin_utils", statistics.median(ratios), 1.35)]


def _import_time(statement: str) -> int:
    """Return the microseconds that the imports of a statement take in a new interpreter.

    -I -S: nothing that an environment imports at its start is there already, as in a plugin host
    that has just been started.
    """
    setup = f"import sys; sys.path.insert(0, {str(_ROOT)!r}); "
    command = [sys.executable, "-I", "-S", "-X", "importtime", "-c", setup + statement]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line.split("|") for line in result.stderr.splitlines()[1:]]
    # Top-level imports are not indented; those before `setup` has run belong to the start.
    wanted = statement.removeprefix("import ").split(", ")
    return sum(int(line[1]) for line in lines if line[2].removeprefix(" ") in wanted)


def main(measure: Callable[[], list[Row]] = lambda: hits() + imports()) -> int:
    """Print the table, and return 1 if a limit is exceeded."""
    print(f"Python {sys.version.split()[0]}: times what a check by hand takes, and for the import")
    print("times what threading and functools take; medians\n")
    print(f"{'':<44} {'median':>6} {'limit':>6}")
    rows = measure()
    print(*rows, sep="\n")
    return 0 if all(row.within for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
