"""A factory that remembers its failure for a while, so that callers fail at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import ClassVar, Generic, TypeVar

from plugin_utils import lazy_singleton

T = TypeVar("T")


class BackOff(Generic[T]):
    """A factory that tries again only after a pause. Only a slot calls it: one thread at a time.

    Args:
        build: Makes the instance.
        pause: Seconds after a failure in which callers get that failure again.
        clock: Tells the time, in seconds.
    """

    def __init__(
        self, build: Callable[[], T], pause: float, clock: Callable[[], float] = monotonic
    ) -> None:
        self._build = build
        self._pause = pause
        self._clock = clock
        self._failure: Exception | None = None
        self._failed_at = 0.0

    def __call__(self) -> T:
        """Build, unless that has failed a moment ago."""
        if self._failure is not None and self._clock() < self._failed_at + self._pause:
            raise self._failure.with_traceback(None)
        try:
            return self._build()
        except Exception as error:
            self._failure, self._failed_at = error, self._clock()
            raise


class Client:
    """Stands for an SDK client whose server does not answer."""

    tries: ClassVar[list[Client]] = []

    def __init__(self) -> None:
        self.tries.append(self)
        msg = "no answer within 30 s"
        raise TimeoutError(msg)


get_client = lazy_singleton(BackOff(Client, pause=60))


if __name__ == "__main__":
    with ThreadPoolExecutor(8) as threads:
        calls = [threads.submit(get_client) for _ in range(8)]
    assert all(isinstance(call.exception(), TimeoutError) for call in calls)
    assert len(Client.tries) == 1
