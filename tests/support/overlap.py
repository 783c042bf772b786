"""Two first calls that overlap, if the accessor lets them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Lock

__all__ = ("Overlap", "call_together")

PATIENCE = 0.3
"""Seconds that the first build waits for a second one. A right accessor never has a second one, so
this only costs time; a racy one needs a moment to bring it."""


class Overlap:
    """Stands in for a constructor: the first build goes on until a second one has begun."""

    def __init__(self) -> None:
        self.builds = 0
        self._lock = Lock()
        self._second = Event()

    def __call__(self, *_args: object) -> None:
        """Count a build, and stay for as long as another one can come."""
        with self._lock:
            self.builds += 1
            if self.builds > 1:
                self._second.set()
        self._second.wait(PATIENCE)


def call_together(call: Callable[[], object], threads: int = 2) -> list[object]:
    """Return what `call` returns in each of so many threads that start together."""
    start = Barrier(threads)

    def meet_and_call() -> object:
        start.wait(timeout=10)
        return call()

    with ThreadPoolExecutor(threads) as pool:
        calls = [pool.submit(meet_and_call) for _ in range(threads)]
        return [done.result() for done in calls]
