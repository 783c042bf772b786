"""What a factory and a slot's options must be, and the errors that say so."""

from __future__ import annotations

from functools import partial
from types import CoroutineType, FunctionType

from plugin_utils._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from plugin_utils._typing import T, Ts

__all__ = (
    "call_close",
    "call_factory",
    "check_close",
    "check_options",
    "qualified_name",
    "runs_later",
)

_RUNS_LATER = 0x20 | 0x80 | 0x100 | 0x200  # CO_GENERATOR, CO_COROUTINE, and both combined


def qualified_name(factory: object) -> str:
    """Return a factory's name for error texts; never its repr, which can show an argument."""
    if isinstance(factory, partial):
        return qualified_name(factory.func)
    named = factory if hasattr(factory, "__qualname__") else type(factory)
    module = getattr(named, "__module__", None)  # a bound method of a builtin type has none
    name = getattr(named, "__qualname__", "")
    return f"{module}.{name}" if module else name


def runs_later(function: object) -> bool:
    """Tell whether a call of this function or method only makes a coroutine or a generator."""
    plain = getattr(function, "__func__", function)
    return isinstance(plain, FunctionType) and bool(plain.__code__.co_flags & _RUNS_LATER)


def call_factory(factory: Callable[[*Ts], T], args: tuple[*Ts]) -> T:
    """Return what the factory builds.

    Raises:
        TypeError: It is not callable, or what it returns is a coroutine.
    """
    if not callable(factory):
        raise _not_callable(factory)
    instance = factory(*args)
    _refuse_coroutine(instance, factory)
    return instance


def _not_callable(factory: object) -> TypeError:
    return TypeError(
        f"the factory must be callable, not an instance of {qualified_name(type(factory))}. "
        "Pass the function itself: get(build), not get(build())."
    )


def _refuse_coroutine(instance: object, factory: object) -> None:
    if isinstance(instance, CoroutineType):
        instance.close()  # it will never be awaited: no warning about that on top of the error
        msg = (
            f"{qualified_name(factory)} returned a coroutine, which can be awaited once: every "
            "later caller would get an error. Use plugin_utils.aio for coroutine factories."
        )
        raise TypeError(msg)


def check_close(close: object) -> None:
    """Raise `TypeError` for a function whose call would close nothing."""
    if runs_later(close):
        raise _closes_later(close)


def call_close(close: Callable[[T], object], instance: T) -> None:
    """Close an instance that was dropped.

    Raises:
        TypeError: What `close` returned is a coroutine, so nothing has been closed.
    """
    result = close(instance)
    if isinstance(result, CoroutineType):
        result.close()  # as above
        raise _closes_later(close)


def _closes_later(close: object) -> TypeError:
    return TypeError(
        f"close: {qualified_name(close)} is a coroutine or generator function. Its call only makes "
        "an object, and the dropped instance would stay open. Use plugin_utils.aio for clients "
        "that are closed with await, or a function that runs it to its end."
    )


def check_options(close: object, fork: object, on_failure: object, name: object) -> None:
    """Raise `TypeError` or `ValueError` for an option that would only show much later."""
    if close is not None and not callable(close):
        msg = f"close must be a function that takes the dropped instance, not {close!r}"
        raise TypeError(msg)
    if fork not in ("rebuild", "keep"):
        msg = f"fork must be 'rebuild' (an instance per process) or 'keep', not {fork!r}"
        raise ValueError(msg)
    if on_failure not in ("retry", "share"):
        msg = f"on_failure must be 'retry' (waiters try too) or 'share', not {on_failure!r}"
        raise ValueError(msg)
    if name is not None and not isinstance(name, str):
        msg = f"name must be a string, not {name!r}"
        raise TypeError(msg)
