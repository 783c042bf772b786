"""`CountingFactory`: a factory that a test can count, hold and fail."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Generic, ParamSpec, TypeVar

__all__ = ("CountingFactory",)

P = ParamSpec("P")
T = TypeVar("T")


class CountingFactory(Generic[P, T]):
    """A factory for tests: counts its calls, holds them until told, fails where told.

    With `held=True` a test decides what happens during a build, without a sleep: wait until the
    build has started, do what the test is about, and let the build go on.

    It takes the arguments that `build` takes, so it can stand in for a class that needs a config.

    Concurrency: call it, and its methods, from any thread.

    Failure: a call that is listed in `failures` raises that exception instead of building. It is
    counted and held like any other.

    Args:
        build: Makes the instance, from the arguments of the call.
        held: Whether each call waits for a `release` of its own.
        failures: Which call raises what: `{1: OSError("down")}` fails the first call only.
        timeout: Seconds a held call waits for its release.

    Attributes:
        calls: How many calls have started.

    Raises:
        TimeoutError: From a held call that was not released in time: the test forgot it, or hangs.

    Example:
        ```python
        from threading import Thread

        from plugin_utils import SingletonSlot
        from plugin_utils.testing import CountingFactory

        slot: SingletonSlot[object] = SingletonSlot()
        factory = CountingFactory(object, held=True)
        builder = Thread(target=slot.get, args=(factory,))
        builder.start()
        factory.wait_started()
        assert slot.peek() is None  # a build is running, nothing is cached yet
        factory.release()
        builder.join(10)
        assert slot.get(factory) is slot.peek()
        assert factory.calls == 1
        ```
    """

    # No `__dict__`: `lazy_singleton` copies a factory's to the accessor, where `calls` would stay
    # as it was then.
    __slots__ = (
        "_build",
        "_changed",
        "_failures",
        "_held",
        "_spare",
        "_timeout",
        "_waiting",
        "calls",
    )

    def __init__(
        self,
        build: Callable[P, T],
        *,
        held: bool = False,
        failures: Mapping[int, BaseException] | None = None,
        timeout: float = 10.0,
    ) -> None:
        self._build = build
        self._held = held
        self._failures = dict(failures or {})
        self._timeout = timeout
        self._changed = threading.Condition()
        # The held calls, in the order they started, and how many future ones are released
        # already. At most one of the two is not empty. Guarded by `_changed`, as `calls` is.
        self._waiting: list[int] = []
        self._spare = 0
        self.calls = 0

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what `build` makes of the arguments, when the test allows it."""
        with self._changed:
            self.calls += 1
            number = self.calls
            self._changed.notify_all()
            if self._held:
                self._wait_for_release(number)
        failure = self._failures.get(number)
        if failure is not None:
            raise failure
        return self._build(*args, **kwargs)

    def _wait_for_release(self, number: int) -> None:
        """Return when it is this call's turn to go on. `_changed` is held."""
        if self._spare:
            self._spare -= 1
            return
        self._waiting.append(number)
        if not self._changed.wait_for(lambda: number not in self._waiting, self._timeout):
            self._waiting.remove(number)
            msg = f"call {number} was not released within {self._timeout:g} s"
            raise TimeoutError(msg)

    def wait_started(self, calls: int = 1, *, timeout: float = 10.0) -> None:
        """Wait until this many calls have started, counted from the beginning.

        Args:
            calls: How many.
            timeout: Seconds to wait.

        Raises:
            TimeoutError: Fewer have started in that time.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self.calls >= calls, timeout):
                msg = f"{self.calls} of {calls} calls have started within {timeout:g} s"
                raise TimeoutError(msg)

    def release(self, calls: int = 1) -> None:
        """Let this many more held calls go on, in the order they started, future ones included.

        Args:
            calls: How many.

        Raises:
            ValueError: `calls` is below 1, or the calls are not held.
        """
        if not self._held:
            msg = "release() has nothing to release: make the factory with held=True"
            raise ValueError(msg)
        if calls < 1:
            msg = f"calls must be at least 1, not {calls!r}: nothing would go on"
            raise ValueError(msg)
        with self._changed:
            free = min(calls, len(self._waiting))
            del self._waiting[:free]
            self._spare += calls - free
            self._changed.notify_all()
