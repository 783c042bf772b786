"""What a coroutine factory and a slot's scope must be, and the errors that say so."""

from __future__ import annotations

from inspect import isawaitable, iscoroutinefunction, signature
from types import CoroutineType

from plugin_utils._factory import qualified_name
from plugin_utils._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from plugin_utils._typing import T, Ts

__all__ = ("call_factory", "check_callable", "check_coroutine_function", "check_scope")


async def call_factory(factory: Callable[[*Ts], Awaitable[T]], args: tuple[*Ts]) -> T:
    """Return what the factory builds.

    Raises:
        TypeError: What it returns cannot be awaited, or can be awaited twice.
    """
    made: object = factory(*args)
    if not isawaitable(made):
        msg = (
            f"{qualified_name(factory)} returned an instance of "
            f"{qualified_name(type(made))}, which cannot be awaited. Pass a coroutine "
            "function; for any other factory use plugin_utils.SingletonSlot."
        )
        raise TypeError(msg)
    instance: T = await made
    if isinstance(instance, CoroutineType):
        instance.close()  # it will never be awaited: no warning about that on top of the error
        msg = (
            f"{qualified_name(factory)} returned a coroutine when awaited. That can be awaited "
            "once: every later caller would get an error. Await it inside the factory."
        )
        raise TypeError(msg)
    return instance


def check_callable(factory: object) -> None:
    """Raise `TypeError` for something that is no factory, such as a coroutine."""
    if callable(factory):
        return
    kind = qualified_name(type(factory))
    if isinstance(factory, CoroutineType):
        factory.close()  # it will never be awaited: no warning about that on top of the error
    msg = (
        f"the factory must be callable, not an instance of {kind}. "
        "Pass the function itself: get(build), not get(build())."
    )
    raise TypeError(msg)


def check_coroutine_function(factory: object) -> None:
    """Raise `TypeError` for what is no coroutine function that can be called without arguments."""
    if not callable(factory):
        msg = f"aio.lazy_singleton needs a function, not {type(factory).__qualname__!r}"
        raise TypeError(msg)
    name = qualified_name(factory)
    if not (iscoroutinefunction(factory) or iscoroutinefunction(type(factory).__call__)):
        msg = (
            f"aio.lazy_singleton: {name} is no coroutine function, that is `async def` without "
            "`yield`. For a function that awaits nothing use plugin_utils.lazy_singleton, which "
            "may be called from async code too."
        )
        raise TypeError(msg)
    try:
        signature(factory).bind()
    except TypeError as error:
        msg = (
            f"aio.lazy_singleton: {name} cannot be called without arguments ({error}), and an "
            "accessor takes none: one instance serves all callers. For an instance per object, "
            "keep an aio.SingletonSlot in the object; for a config that the first call brings, "
            "use aio.SingletonSlot.get."
        )
        raise TypeError(msg) from None


def check_scope(scope: object, fork: object) -> None:
    """Raise `ValueError` for a scope that does not exist, or that no fork can keep."""
    if scope not in ("loop", "process"):
        msg = f"scope must be 'loop' (an instance per running loop) or 'process', not {scope!r}"
        raise ValueError(msg)
    if scope == "loop" and fork == "keep":
        msg = (
            "fork='keep' needs scope='process': a forked child never runs the parent's loop, so "
            "what belongs to that loop is of no use there"
        )
        raise ValueError(msg)
