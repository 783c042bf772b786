"""What not to do: a flag beside the value. The tests must catch it, or they prove nothing."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ("TwoFields",)

T = TypeVar("T")


class TwoFields(Generic[T]):
    """A lazily built instance in two fields, which a reader can see torn."""

    def __init__(self, factory: Callable[[], T]) -> None:
        self._factory = factory
        self._lock = threading.Lock()
        self._built = False
        self._value: T | None = None

    def get(self) -> T | None:
        """Return the instance, or None when a reset comes at the wrong moment."""
        if self._built:
            return self._value
        with self._lock:
            if not self._built:
                self._value = self._factory()
                self._built = True
            return self._value

    def reset(self) -> bool:
        """Drop the instance."""
        with self._lock:
            self._value = None
            self._built = False
        return True
