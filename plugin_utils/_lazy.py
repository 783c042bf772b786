"""`lazy_singleton`: turns a function without arguments into an accessor that runs it once."""

from __future__ import annotations

from functools import WRAPPER_UPDATES, update_wrapper
from types import FunctionType

from plugin_utils._factory import qualified_name, runs_later
from plugin_utils._slot import UNSET, SingletonSlot, Unset
from plugin_utils._typing import TYPE_CHECKING, cast, overload

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal, Protocol

    from plugin_utils._tenure import Lease
    from plugin_utils._typing import D, T

    class Accessor(Protocol[T]):
        """What `lazy_singleton` returns: call it for the instance."""

        __name__: str
        __qualname__: str
        __wrapped__: Callable[[], object]

        def __call__(self) -> T:
            """Return the instance, built on the first call."""
            ...

        @overload
        def peek(self) -> T | None: ...
        @overload
        def peek(self, default: D) -> T | D: ...
        def peek(self, default: D | None = None) -> T | D | None:
            """Return the instance, or `default` if there is none. Never builds or waits."""

        def reset(self, expected: object = UNSET, *, close: bool = True) -> bool:
            """Drop the instance, and return whether there was one to drop."""
            ...

        def lease(self) -> Lease[T]:
            """Return a context manager that keeps the instance from being closed."""
            ...


__all__ = ("lazy_singleton",)


@overload
def lazy_singleton(factory: Callable[[], T], /) -> Accessor[T]: ...
@overload
def lazy_singleton(
    *,
    close: None = None,
    fork: Literal["rebuild", "keep"] = "rebuild",
    on_failure: Literal["retry", "share"] = "retry",
) -> Callable[[Callable[[], T]], Accessor[T]]: ...
@overload
def lazy_singleton(
    *,
    close: Callable[[T], object],
    fork: Literal["rebuild", "keep"] = "rebuild",
    on_failure: Literal["retry", "share"] = "retry",
) -> Callable[[Callable[[], T]], Accessor[T]]: ...
def lazy_singleton(
    factory: Callable[[], T] | Unset = UNSET,
    /,
    *,
    close: Callable[[T], object] | None = None,
    fork: Literal["rebuild", "keep"] = "rebuild",
    on_failure: Literal["retry", "share"] = "retry",
) -> Accessor[T] | Callable[[Callable[[], T]], Accessor[T]]:
    """Make an accessor that builds its instance on the first call, once per process.

    The accessor keeps the factory's name, docstring and signature, and pickles by reference as a
    function does. It has three methods: `peek(default=None)`, `reset(expected=, close=)` and
    `lease()`, which are those of `SingletonSlot`.

    Concurrency: when many threads call first, one of them runs the factory and all get that one
    instance. A call that finds an instance takes no lock and allocates nothing. Two accessors
    never wait for each other.

    Failure: when the factory raises, nothing is cached and its caller gets the exception. The
    threads that waited try again, one at a time; `on_failure="share"` gives them the exception
    instead.

    Re-entrancy: a factory that calls its own accessor gets `RecursiveBuildError`; factories that
    wait for each other get `BuildDeadlockError`. Neither hangs.

    Args:
        factory: A function or a class that can be called without arguments. May return anything,
            `None` included, except a coroutine.
        close: As for `SingletonSlot`.
        fork: As for `SingletonSlot`.
        on_failure: As for `SingletonSlot`.

    Raises:
        TypeError: The factory is no callable, needs an argument, or is a coroutine or generator
            function; `close` is no callable, or is such a function.
        ValueError: `fork` or `on_failure` is neither of the two.

    Example:
        ```python
        from plugin_utils import lazy_singleton

        @lazy_singleton
        def settings() -> dict[str, str]:
            return {"host": "hermes"}

        assert settings() is settings()
        ```
    """

    def decorate(factory: Callable[[], T]) -> Accessor[T]:
        _refuse(factory)
        return _accessor(
            factory,
            SingletonSlot(
                close=close, fork=fork, on_failure=on_failure, name=qualified_name(factory)
            ),
        )

    return decorate if isinstance(factory, Unset) else decorate(factory)


def _accessor(factory: Callable[[], T], slot: SingletonSlot[T]) -> Accessor[T]:
    # Invariant: neither of the accessor's two variables is ever rebound. Before Python 3.13 a
    # tracer that reads `frame.f_locals` writes its snapshot back into closure cells: were the
    # instance held in a cell, a reset instance could come back from the dead.
    def accessor() -> T:
        try:
            return slot._instance
        except AttributeError:
            pass
        return slot.get(factory)

    # A class's `__dict__` holds its methods; an accessor that had those would pass for the class.
    update_wrapper(accessor, factory, updated=() if isinstance(factory, type) else WRAPPER_UPDATES)
    vars(accessor).update(peek=slot.peek, reset=slot.reset, lease=lambda: slot.lease(factory))
    return cast("Accessor[T]", accessor)


def _refuse(factory: object) -> None:
    """Raise `TypeError` for a factory that cannot be called without arguments, or runs later."""
    if not callable(factory):
        msg = f"lazy_singleton needs a function or a class, not {type(factory).__qualname__!r}"
        raise TypeError(msg)
    name = qualified_name(factory)
    if _runs_later(factory):
        msg = (
            f"lazy_singleton: {name} is a coroutine or generator function. Its call only makes an "
            "object that can be used once; caching that is never right. For coroutines use "
            "plugin_utils.aio.lazy_singleton; let a generator's caller keep what it yields."
        )
        raise TypeError(msg)
    missing = _required(factory)
    if missing:
        msg = (
            f"lazy_singleton: {name} needs the argument {missing!r}, and an accessor takes none: "
            "one instance serves all callers. For an instance per object, keep a SingletonSlot in "
            "the object; for a config that the first call brings, use SingletonSlot.get."
        )
        raise TypeError(msg)


def _runs_later(factory: Callable[..., object]) -> bool:
    if isinstance(factory, FunctionType):
        return runs_later(factory)
    import inspect  # noqa: PLC0415 - rare, and dearer to import than this whole library

    checks = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
    faces = [factory] if isinstance(factory, type) else [factory, type(factory).__call__]
    return any(check(face) for check in checks for face in faces)


def _required(factory: Callable[..., object]) -> str:
    """Return the name of the first parameter without a default, or nothing."""
    if isinstance(factory, FunctionType):
        code = factory.__code__
        positional = code.co_varnames[: code.co_argcount - len(factory.__defaults__ or ())]
        keyword = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        given = factory.__kwdefaults__ or {}
        return next(iter([*positional, *(key for key in keyword if key not in given)]), "")
    import inspect  # noqa: PLC0415 - as above

    try:
        parameters = inspect.signature(factory).parameters.values()
    except ValueError:  # a builtin that does not tell
        return ""
    for parameter in parameters:
        if parameter.default is parameter.empty and parameter.kind not in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            return parameter.name
    return ""
