"""A slot without a lock: what the tests must catch, or they prove nothing."""

from collections.abc import Callable
from threading import Barrier
from typing import Generic, TypeVar

__all__ = ("CALLERS", "SingletonSlot")

T = TypeVar("T")

CALLERS = 20


class SingletonSlot(Generic[T]):
    """Has the interface of Hermes's slot; the first callers all look before any stores."""

    def __init__(self) -> None:
        self._built: list[T] = []
        self._all_looked = Barrier(CALLERS)

    def get(self, factory: Callable[[], T]) -> T:
        """Return the instance, built if there is none."""
        if not self._built:
            self._all_looked.wait(30)
            self._built[:] = [factory()]
        return self._built[0]

    def peek(self) -> T | None:
        """Return the instance, if there is one."""
        return next(iter(self._built), None)

    def reset(self) -> None:
        """Drop the instance."""
        self._built.clear()
