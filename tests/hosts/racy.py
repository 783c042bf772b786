"""The accessor that most of us would write, with the bad moment made certain."""

from collections.abc import Callable
from threading import Barrier
from typing import TypeVar

__all__ = ("racy",)

T = TypeVar("T")


def racy(callers: int) -> Callable[[Callable[[], T]], Callable[[], T]]:
    """Decorate a factory with look, build, store; all first callers look before any stores."""
    all_looked = Barrier(callers)

    def decorate(factory: Callable[[], T]) -> Callable[[], T]:
        built: list[T] = []

        def accessor() -> T:
            if not built:
                all_looked.wait(30)
                built[:] = [factory()]
            return built[0]

        return accessor

    return decorate
