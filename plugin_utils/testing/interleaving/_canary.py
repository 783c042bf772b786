"""A race that every exploration must find before its verdict counts.

Where the threads are not watched, nothing is ever switched and every model passes.
"""

from collections.abc import Callable

__all__ = ("canary",)


class _Counter:
    def __init__(self) -> None:
        self.value = 0

    def add(self) -> None:
        self.value += 1  # reads, adds and writes: another thread can write in between


def canary() -> tuple[list[Callable[[], object]], Callable[[list[object]], None]]:
    """Return a model that loses a count in some schedule with a single forced switch."""
    counter = _Counter()

    def check(_results: list[object]) -> None:
        assert counter.value == 2, "a count was lost"  # noqa: S101, PLR2004 - a model's check

    return [counter.add, counter.add], check
