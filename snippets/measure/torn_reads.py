"""Count how often a reader gets `None` from a slot that another thread resets.

    python torn_reads.py 10

runs each form for ten seconds. The value is an open temporary file: closing it lets other threads
run in the middle of a reset, as closing a socket does.
"""

import platform
import sys
import tempfile
import threading
from collections.abc import Callable
from time import monotonic
from typing import IO, Protocol

from plugin_utils import SingletonSlot

File = IO[bytes]


class Slot(Protocol):
    """What both forms have."""

    def get(self, factory: Callable[[], File], /) -> File | None:
        """Return the file, opened by `factory` if there is none."""

    def reset(self) -> object:
        """Drop the file."""


class TwoFields:
    """The form with a flag beside the value, lock and second test included."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._value: File | None = None
        self._is_set = False

    def get(self, factory: Callable[[], File]) -> File | None:
        """Read the flag, then the value."""
        if self._is_set:
            return self._value
        with self._lock:
            if not self._is_set:
                self._value = factory()
                self._is_set = True
            return self._value

    def reset(self) -> None:
        """Clear the value, then the flag."""
        with self._lock:
            self._value = None
            self._is_set = False


def torn_reads(slot: Slot, seconds: float, readers: int = 4) -> tuple[int, int]:
    """Return how many reads there were, and how many of them got `None`."""
    end = monotonic() + seconds
    counts: list[tuple[int, int]] = []

    def read() -> None:
        reads = torn = 0
        while True:
            for _ in range(100):
                torn += slot.get(tempfile.TemporaryFile) is None
            reads += 100
            if monotonic() >= end:
                break
        counts.append((reads, torn))

    threads = [threading.Thread(target=read) for _ in range(readers)]
    for thread in threads:
        thread.start()
    while True:
        slot.reset()
        if monotonic() >= end:
            break
    for thread in threads:
        thread.join()
    slot.reset()
    return sum(reads for reads, _ in counts), sum(torn for _, torn in counts)


def main(seconds: float) -> None:
    """Measure both forms and print a line for each."""
    print(f"{platform.python_implementation()} {platform.python_version()}, {seconds:g} s each")
    forms: dict[str, Slot] = {"two fields": TwoFields(), "SingletonSlot": SingletonSlot[File]()}
    for name, slot in forms.items():
        reads, torn = torn_reads(slot, seconds)
        print(f"{name:13} {reads:12,} reads {torn:12,} of them None")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 0.5)
