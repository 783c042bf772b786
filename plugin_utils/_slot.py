"""`SingletonSlot`: a place for one lazily built instance."""

from __future__ import annotations

from plugin_utils._factory import call_factory, check_close, check_options, qualified_name
from plugin_utils._gate import Gate, register, set_aside
from plugin_utils._tenure import Lease, Tenure
from plugin_utils._typing import TYPE_CHECKING, Generic, T, overload

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Literal, NoReturn

    from plugin_utils._typing import D, Ts

__all__ = ("UNSET", "SingletonSlot", "Unset")


class Unset:
    """The type of the marker below; `None` is a legal instance."""

    def __repr__(self) -> str:
        return "<unset>"


UNSET = Unset()


class SingletonSlot(Generic[T]):
    """Holds at most one instance per process, built by whoever comes first.

    Use it where the factory needs an argument, or where the instance is reset from elsewhere. The
    first factory wins: later calls of `get` return its instance and ignore theirs.

    Concurrency: when many threads call `get` first, one of them runs its factory and all get that
    one instance. A call that finds an instance takes no lock. `reset` never lets a reader see a
    half-empty slot: every `get` returns a whole instance, the old one or a new one.

    Failure: when the factory raises, nothing is cached and its caller gets the exception. The
    threads that waited try again, one at a time, each with its own factory; `on_failure="share"`
    gives them the exception instead.

    Re-entrancy: a factory that comes back to its own slot gets `RecursiveBuildError`; factories
    that wait for each other's slots get `BuildDeadlockError`. Neither hangs.

    Fork: a forked child builds its own instance on its first call. The parent's stays alive in
    the child, unused and unclosed, since its connection is the parent's.

    Args:
        close: Called with each instance that `reset` drops, once, after the slot is empty and
            outside every lock; while the instance is leased, after the last lease has ended. Its
            error reaches the caller of `reset`, or whoever ends the last lease. Never called at
            exit, nor in another process than the one that built the instance.
        fork: `"rebuild"`, as said above, or `"keep"`: a forked child goes on with the parent's
            instance. For data that is only read.
        on_failure: `"retry"`, as said above, or `"share"`: whoever waits for a build that raises
            an `Exception` gets that same exception. Later calls try again. Its traceback ends at
            the factory's line; threads that raise it at the same moment share the lines above.
        name: Names the slot in errors. A slot without one goes by the name of its factory.

    Raises:
        TypeError: `close` is not callable, or a coroutine function; `name` is no string.
        ValueError: `fork` or `on_failure` is neither of the two.

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
    # `_tenure` is for `lease` and `reset`. It is set before `_instance` and cleared after it, so
    # whoever got an instance from `get` finds its tenure, or that it has ended.
    __slots__ = (
        "__weakref__",
        "_attempt",
        "_close",
        "_fork",
        "_gate",
        "_instance",
        "_name",
        "_on_failure",
        "_tenure",
    )

    _instance: T

    def __init__(
        self,
        *,
        close: Callable[[T], object] | None = None,
        fork: Literal["rebuild", "keep"] = "rebuild",
        on_failure: Literal["retry", "share"] = "retry",
        name: str | None = None,
    ) -> None:
        check_options(close, fork, on_failure, name)
        check_close(close)
        self._close = close
        self._fork = fork
        self._on_failure = on_failure
        self._name = name
        self._gate = Gate(name or type(self).__name__)
        self._tenure: Tenure[T] | None = None
        self._attempt = _Attempt()
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
        return self._gate.hold("get", self._build, factory, args, self._attempt)

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
        if close and self._close is not None and dropped.retire():
            dropped.close(self._close)
        return True

    def lease(self, factory: Callable[[*Ts], T], *args: *Ts) -> Lease[T]:
        """Return a context manager that gives the instance and keeps it from being closed.

        A `reset` meanwhile empties the slot at once, and new callers get a new instance; the old
        one is closed when its last lease ends. Plain `get` is not counted: an instance that is
        replaced while in use must be leased by all who use it.

        Args:
            factory: As for `get`.
            args: As for `get`.

        Raises:
            SingletonError: The same lease is entered again before it has ended.
            Exception: On entry whatever `get` raises; on exit whatever `close` raises.

        Example:
            ```python
            from plugin_utils import SingletonSlot

            closed: list[object] = []
            slot: SingletonSlot[object] = SingletonSlot(close=closed.append)
            with slot.lease(object) as client:
                slot.reset()
                assert closed == []
            assert closed == [client]
            ```
        """
        return Lease(lambda: self.borrow(factory, args), self._close)

    def borrow(self, factory: Callable[[*Ts], T], args: tuple[*Ts]) -> Tenure[T]:
        """Return the tenure of the instance, with a lease added. Not for you to call."""
        while True:
            self.get(factory, *args)
            tenure = self._tenure
            if tenure is not None and tenure.borrow():
                return tenure
            # A reset has come between: the instance may be closed already.

    def renew(self) -> None:
        """Start over in a forked child. Called by the fork hook; not for you to call."""
        self._gate = Gate(self._gate.name)
        self._attempt = _Attempt()
        tenure, self._tenure = self._tenure, None
        if tenure is None:
            return
        # Whole first: the fork may have come between the two writes of another thread.
        self._instance = tenure.instance
        if self._fork == "keep":
            self._tenure = Tenure(tenure.instance, ours=False)
        else:
            del self._instance
            set_aside(tenure)

    def _build(self, factory: Callable[[*Ts], T], args: tuple[*Ts], attempt: _Attempt) -> T:
        """Return the instance, building it if it is still missing. The gate is held."""
        try:
            return self._instance  # somebody built it while we waited
        except AttributeError:
            pass
        if attempt.error is not None:
            try:
                # Starts anew at the factory, so that it does not grow by each waiter's way in.
                raise attempt.error.with_traceback(attempt.traceback)
            finally:
                # What this waiter was handling meanwhile is no business of the others. An error
                # can be a frozen dataclass, which refuses to be assigned to.
                BaseException.__setattr__(attempt.error, "__context__", attempt.context)
        gate = self._gate
        if self._name is None:
            gate.name = qualified_name(factory)
        try:
            instance = call_factory(factory, args)
        except Exception as error:
            if self._on_failure == "share":
                self._share(error)
            raise
        return self._put(instance) if self._gate is gate else self._adopt(instance)

    def _put(self, instance: T) -> T:
        """Cache the instance unless there is one, and return what is cached. The gate is held."""
        try:
            return self._instance
        except AttributeError:
            pass
        self._tenure = Tenure(instance)
        self._instance = instance
        return instance

    def _share(self, error: Exception) -> None:
        attempt, self._attempt = self._attempt, _Attempt()
        attempt.traceback = error.__traceback__
        attempt.context = error.__context__
        attempt.error = error

    def _adopt(self, instance: T) -> T:
        """Offer an instance to the child, when the factory itself forked and this is the child.

        The gate that is held is the parent's. The child may have built one of its own meanwhile.
        """
        kept = self._gate.hold("get", self._put, instance)
        if kept is not instance:
            set_aside(instance)
        return kept

    def _take(self, expected: object) -> Tenure[T] | None:
        """Empty the slot, and return what was in it. The gate is held.

        The caller drops the last reference after the gate is released: that can run a finaliser,
        and a finaliser can come back here.
        """
        tenure = self._tenure
        if tenure is None or (expected is not UNSET and tenure.instance is not expected):
            return None
        del self._instance
        self._tenure = None
        return tenure

    def __repr__(self) -> str:
        state = "empty" if self.peek(UNSET) is UNSET else "built"
        return f"<{type(self).__name__} {self._gate.name!r}: {state}>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        msg = (
            f"cannot copy or pickle {self!r}: a copy would build a second instance. "
            "Keep the slot in a module and import it where you need it."
        )
        raise TypeError(msg)


class _Attempt:
    """What the threads that wait for one build have in common: its failure, if that is shared.

    Invariant: whoever finds the slot empty takes the slot's current attempt along into the wait.
    A failed build leaves its error there and gives the slot a new attempt, so that only those who
    were waiting see it. It is garbage when the last of them has gone; since the error's traceback
    leads back to it, it takes a garbage collection.
    """

    __slots__ = ("context", "error", "traceback")

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.context: BaseException | None = None
        self.traceback: TracebackType | None = None
