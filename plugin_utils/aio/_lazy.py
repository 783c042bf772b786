"""`lazy_singleton` for coroutine functions: an accessor to be awaited."""

from __future__ import annotations

from functools import update_wrapper

from plugin_utils._factory import qualified_name
from plugin_utils._slot import UNSET
from plugin_utils._typing import TYPE_CHECKING, cast, overload
from plugin_utils.aio._factory import check_coroutine_function
from plugin_utils.aio._slot import SingletonSlot

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any, Literal, Protocol, TypeVar

    from plugin_utils._typing import D, T

    T_co = TypeVar("T_co", covariant=True)

    class Accessor(Protocol[T_co]):
        """What `lazy_singleton` returns: await its call for the instance."""

        __name__: str
        __qualname__: str
        __wrapped__: Callable[[], object]

        def __call__(self) -> Coroutine[Any, Any, T_co]:
            """Return the instance when awaited, built on the first call."""
            ...

        @overload
        def peek(self) -> T_co | None: ...
        @overload
        def peek(self, default: D) -> T_co | D: ...
        def peek(self, default: D | None = None) -> T_co | D | None:
            """Return the running loop's instance, or `default`. Never builds or waits."""

        def reset(self, expected: object = UNSET) -> bool:
            """Drop every loop's instance and close none. Never waits."""
            ...

        def aclose(self) -> Coroutine[Any, Any, bool]:
            """Drop the running loop's instance and close it, when awaited."""
            ...


__all__ = ("lazy_singleton",)


@overload
def lazy_singleton(factory: Callable[[], Coroutine[Any, Any, T]], /) -> Accessor[T]: ...
@overload  # without a `close` that tells it, only the factory tells the type
def lazy_singleton(
    *,
    scope: Literal["loop", "process"] = "loop",
    close: None = None,
    fork: Literal["rebuild", "keep"] = "rebuild",
) -> Callable[[Callable[[], Coroutine[Any, Any, T]]], Accessor[T]]: ...
@overload
def lazy_singleton(
    *,
    scope: Literal["loop", "process"] = "loop",
    close: Callable[[T], object],
    fork: Literal["rebuild", "keep"] = "rebuild",
) -> Callable[[Callable[[], Coroutine[Any, Any, T]]], Accessor[T]]: ...
def lazy_singleton(
    factory: object = UNSET,
    /,
    *,
    scope: Literal["loop", "process"] = "loop",
    close: Callable[[T], object] | None = None,
    fork: Literal["rebuild", "keep"] = "rebuild",
) -> Accessor[T] | Callable[[Callable[[], Coroutine[Any, Any, T]]], Accessor[T]]:
    """Make an accessor that builds its instance when first awaited, once per running loop.

    The accessor is a coroutine function with the factory's name, docstring and signature, and
    pickles by reference. It has three methods: `peek(default=None)`, `reset(expected=)` and
    `aclose()`, which are those of `SingletonSlot`.

    Concurrency: when many tasks await it first, one factory runs, in a task of its own, and all
    get its instance. Cancelling a caller never cancels the build. An await that finds an instance
    makes no task, takes no lock and does not let other tasks run.

    Failure: when the factory raises, nothing is cached and the caller that started it gets the
    exception. The tasks that waited try again, one at a time.

    Re-entrancy: a factory that awaits its own accessor, itself or in a child task, gets
    `RecursiveBuildError`; factories that await each other get `BuildDeadlockError`.

    Args:
        factory: A coroutine function that can be called without arguments. May return anything,
            `None` included, except a coroutine.
        scope: As for `SingletonSlot`: `"loop"`, or `"process"` for objects bound to no loop.
        close: As for `SingletonSlot`: a function or a coroutine function.
        fork: As for `SingletonSlot`.

    Raises:
        TypeError: The factory is no coroutine function, or needs an argument; `close` is not
            callable.
        ValueError: `scope` or `fork` is none of theirs, or an instance per loop is to be kept.

    Example:
        ```python
        import asyncio

        from plugin_utils import aio

        @aio.lazy_singleton
        async def settings() -> dict[str, str]:
            await asyncio.sleep(0)
            return {"host": "hermes"}

        async def main() -> None:
            assert await settings() is await settings()

        asyncio.run(main())
        ```
    """

    def decorate(factory: Callable[[], Coroutine[Any, Any, T]]) -> Accessor[T]:
        check_coroutine_function(factory)
        name = qualified_name(factory)
        return _accessor(factory, SingletonSlot(scope=scope, close=close, fork=fork, name=name))

    if factory is UNSET:  # not `None`: that is what a wrong expression gives
        return decorate
    return decorate(cast("Callable[[], Coroutine[Any, Any, T]]", factory))


def _accessor(factory: Callable[[], Coroutine[Any, Any, T]], slot: SingletonSlot[T]) -> Accessor[T]:
    builds, place = slot._table.builds, slot._table.place

    async def accessor() -> T:
        try:
            return builds[place()].instance
        except (KeyError, AttributeError):
            pass
        return await slot.get(factory)

    update_wrapper(accessor, factory)
    vars(accessor).update(peek=slot.peek, reset=slot.reset, aclose=slot.aclose)
    return cast("Accessor[T]", accessor)
