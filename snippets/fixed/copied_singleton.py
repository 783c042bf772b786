"""The smallest `lazy_singleton` that is right: one file to copy, standard library only."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import update_wrapper
from threading import Barrier, Lock, get_ident
from typing import Generic, TypeVar

T = TypeVar("T")


class lazy_singleton(Generic[T]):  # noqa: N801 - used as a decorator
    """Builds on the first call, once; `reset()` drops, `peek()` only looks."""

    # Invariant: unset is the absence of `_instance`, so one read finds all of it or nothing.
    _instance: T

    def __init__(self, factory: Callable[[], T]) -> None:
        self._factory = factory
        self._lock = Lock()
        self._builder: int | None = None
        update_wrapper(self, factory)

    def __call__(self) -> T:
        """Return the instance, built by the first caller."""
        try:
            return self._instance
        except AttributeError:
            pass  # build outside this handler: the factory's own error stands alone then
        return self._build()

    def peek(self) -> T | None:
        """Return the instance, or None. Never builds and never waits."""
        return getattr(self, "_instance", None)

    def reset(self) -> T | None:
        """Drop the instance and return it, for the caller to close."""
        self._refuse_recursion()
        with self._lock:
            instance = self.peek()
            vars(self).pop("_instance", None)
            return instance

    def _build(self) -> T:
        self._refuse_recursion()
        with self._lock:
            if "_instance" not in vars(self):  # nobody built it while this thread waited
                self._builder = get_ident()
                try:
                    self._instance = self._factory()
                finally:
                    self._builder = None
            return self._instance

    def _refuse_recursion(self) -> None:
        if self._builder == get_ident():
            msg = f"{self._factory.__qualname__} needs the instance that it builds"
            raise RuntimeError(msg)


if __name__ == "__main__":
    start = Barrier(20)
    built: list[object] = []

    @lazy_singleton
    def _get_client() -> object:
        built.append(object())
        return built[-1]

    def _call_first() -> object:
        start.wait(timeout=10)
        return _get_client()

    with ThreadPoolExecutor(20) as threads:
        calls = [threads.submit(_call_first) for _ in range(20)]
    assert {call.result() for call in calls} == set(built)
    assert _get_client.reset() is built[0]
    assert _get_client.peek() is None
