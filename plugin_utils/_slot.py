"""`SingletonSlot`: a place for one lazily built instance."""

from __future__ import annotations

from types import CoroutineType

from plugin_utils._fork import register, set_aside
from plugin_utils._gate import Gate
from plugin_utils._typing import TYPE_CHECKING, Generic, T, overload

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal, NoReturn

    from plugin_utils._typing import D, Ts

__all__ = ("UNSET", "SingletonSlot", "qualified_name")


class _Unset:
    """The type of the marker below; `None` is a legal instance."""

    def __repr__(self) -> str:
        return "<unset>"


UNSET = _Unset()


class SingletonSlot(Generic[T]):
    """Holds at most one instance per process, built by whoever comes first.

    Use it where the factory needs an argument, or where the instance is reset from elsewhere. The
    first factory wins: later calls of `get` return its instance and ignore theirs.

    Concurrency: when many threads call `get` first, one of them runs its factory and all get that
    one instance. A call that finds an instance takes no lock. `reset` never lets a reader see a
    half-empty slot: every `get` returns a whole instance, the old one or a new one.

    Failure: when the factory raises, nothing is cached and its caller gets the exception. The
    threads that waited try again, one at a time, each with its own factory.

    Re-entrancy: a factory that comes back to its own slot gets `RecursiveBuildError`; factories
    that wait for each other's slots get `BuildDeadlockError`. Neither hangs.

    Fork: a forked child builds its own instance on its first call. The parent's stays alive in
    the child, unused and unclosed, since its connection is the parent's.

    Args:
        close: Called with each instance that `reset` drops, once, after the slot is empty and
            outside every lock. Its error reaches the caller of `reset`. Never called at exit, nor
            in another process than the one that built the instance.
        fork: `"rebuild"`, as said above, or `"keep"`: a forked child goes on with the parent's
            instance. For data that is only read.
        name: Names the slot in errors. A slot without one goes by the name of its factory.

    Raises:
        TypeError: `close` is not callable, or `name` is no string.
        ValueError: `fork` is neither of the two.

    Example:
        ```python
        from plugin_utils import SingletonSlot

        class Client:
            def __init__(self, url: str) -> None:
                self.url = url

        slot: SingletonSlot[Client] = SingletonSlot(name="client")
        first = slot.get(Client, "http://127.0.0.1:8000")
        assert slot.get(Client, "http://127.0.0.1:9000") is first  # first config wins
        ```
    """

    # Invariant: `_instance` is the only thing that readers look at, and *unset* is its absence.
    # One attribute read finds a whole instance or nothing; a flag beside it could be seen torn.
    # It is written and deleted only by the thread that holds `_gate`, or by a fork's only thread.
    __slots__ = ("__weakref__", "_close", "_fork", "_gate", "_inherited", "_instance", "_name")

    _instance: T

    def __init__(
        self,
        *,
        close: Callable[[T], object] | None = None,
        fork: Literal["rebuild", "keep"] = "rebuild",
        name: str | None = None,
    ) -> None:
        _check_options(close, fork, name)
        self._close = close
        self._fork = fork
        self._name = name
        self._gate = Gate(name or type(self).__name__)
        # Whether the instance was built by another process: then it is not ours to close.
        self._inherited = False
        register(self)

    def get(self, factory: Callable[[*Ts], T], *args: *Ts) -> T:
        """Return the instance, built by `factory(*args)` if there is none.

        Passing arguments here instead of a `lambda` saves a function object on every call.

        Args:
            factory: Builds the instance. Called at most once for each time the slot is empty.
            args: Passed to the factory. Ignored when there is an instance.

        Raises:
            RecursiveBuildError: The factory that runs in this thread came back here.
            BuildDeadlockError: The factories of several threads wait for each other's slots.
            TypeError: `factory` is not callable, or returned a coroutine.
            Exception: Whatever the factory raises. Nothing is cached then.
        """
        try:
            return self._instance
        except AttributeError:
            pass
        return self._gate.hold("get", self._build, factory, args)

    @overload
    def peek(self) -> T | None: ...
    @overload
    def peek(self, default: D) -> T | D: ...
    def peek(self, default: D | None = None) -> T | D | None:
        """Return the instance, or `default` if there is none. Never builds and never waits.

        Args:
            default: Returned when the slot is empty. Pass a marker of your own where `None` is
                an instance.
        """
        try:
            return self._instance
        except AttributeError:
            return default

    def reset(self, expected: object = UNSET, *, close: bool = True) -> bool:
        """Drop the instance, and return whether there was one to drop.

        Waits for a build that is running. After it has returned, no instance is served whose
        factory started before it was called.

        Args:
            expected: Drop the instance only if it is this very object. Two threads that both find
                a client stale then drop it once, and never the new one that a third has built.
            close: Whether to call the slot's `close` with the dropped instance.

        Raises:
            RecursiveBuildError: Called from inside the slot's own factory.
            BuildDeadlockError: The running build waits for something this thread holds.
            Exception: Whatever `close` raises. The slot is empty nevertheless.
        """
        dropped = self._gate.hold("reset", self._take, expected)
        if dropped is None:
            return False
        instance, ours = dropped
        if close and ours and self._close is not None:
            self._close(instance)
        return True

    def renew(self) -> None:
        """Start over in a forked child. Called by the fork hook; not for you to call."""
        self._gate = Gate(self._gate.name)
        try:
            instance = self._instance
        except AttributeError:
            return
        if self._fork == "keep":
            self._inherited = True
        else:
            del self._instance
            set_aside(instance)

    def _build(self, factory: Callable[[*Ts], T], args: tuple[*Ts]) -> T:
        """Return the instance, building it if it is still missing. The gate is held."""
        try:
            return self._instance  # somebody built it while we waited
        except AttributeError:
            pass
        gate = self._gate
        if self._name is None:
            gate.name = qualified_name(factory)
        instance = _call(factory, args)
        if self._gate is not gate:
            return self._adopt(instance)
        self._instance = instance
        self._inherited = False
        return instance

    def _adopt(self, instance: T) -> T:
        """Offer an instance to the child, when the factory itself forked and this is the child.

        The gate that is held is the parent's. The child may have built one of its own meanwhile.
        """
        kept = self._gate.hold("get", self._build, lambda: instance, ())
        if kept is not instance:
            set_aside(instance)
        return kept

    def _take(self, expected: object) -> tuple[T, bool] | None:
        """Empty the slot, and return what was in it and whether it is ours. The gate is held.

        The caller drops the last reference after the gate is released: that can run a finaliser,
        and a finaliser can come back here.
        """
        try:
            instance = self._instance
        except AttributeError:
            return None
        if expected is not UNSET and instance is not expected:
            return None
        del self._instance
        return instance, not self._inherited

    def __repr__(self) -> str:
        state = "empty" if self.peek(UNSET) is UNSET else "built"
        return f"<{type(self).__name__} {self._gate.name!r}: {state}>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        msg = (
            f"cannot copy or pickle {self!r}: a copy would build a second instance. "
            "Keep the slot in a module and import it where you need it."
        )
        raise TypeError(msg)


def qualified_name(factory: Any) -> str:  # noqa: ANN401 - looks for two attributes on anything
    """Return a factory's name for error texts; never its repr, which can show an argument."""
    if not hasattr(factory, "__qualname__"):
        # functools.partial names what it wraps; of any other object, its class has a name.
        return qualified_name(getattr(factory, "func", factory.__class__))
    return f"{factory.__module__}.{factory.__qualname__}"


def _call(factory: Callable[[*Ts], T], args: tuple[*Ts]) -> T:
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


def _check_options(close: object, fork: object, name: object) -> None:
    if close is not None and not callable(close):
        msg = f"close must be a function that takes the dropped instance, not {close!r}"
        raise TypeError(msg)
    if fork not in ("rebuild", "keep"):
        msg = f"fork must be 'rebuild' (an instance per process) or 'keep', not {fork!r}"
        raise ValueError(msg)
    if name is not None and not isinstance(name, str):
        msg = f"name must be a string, not {name!r}"
        raise TypeError(msg)
