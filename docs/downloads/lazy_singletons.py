# plugin-utils 0.1.0, one file: do not edit, write it again with `plugin-utils vendor`.
# sha256 of all below this line: 73563ce335f6fe4b7ebed6dc9aa33786ce8f7a6c16dfe1ce3312560e79113b60
# ruff: noqa - checked where it was written, not where it is copied to
"""Thread-safe lazy singletons: accessor, slot, keyed slots, and their errors."""

from __future__ import annotations

import _thread
import os
from _thread import get_ident
from _weakrefset import WeakSet
from functools import WRAPPER_UPDATES, partial, update_wrapper
from os import getpid
from types import CoroutineType, FunctionType

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType
    from typing import Any, Generic, Literal, NoReturn, Protocol, TypeVar, TypeVarTuple, cast, overload

__all__ = (
    "BuildDeadlockError",
    "KeyedSlots",
    "RecursiveBuildError",
    "SingletonError",
    "SingletonSlot",
    "lazy_singleton",
)


# errors.py:
# What the primitives raise of their own accord.


class SingletonError(RuntimeError):
    """Base class of the errors below: a build or a reset cannot go on."""


class RecursiveBuildError(SingletonError):
    """A factory, or something that runs while it runs, needs the instance that it builds.

    Raised at once in the thread that builds, instead of a hang or a second build. The slot stays
    empty and usable.

    Attributes:
        name: The accessor or slot.
    """

    name: str = ""


class BuildDeadlockError(SingletonError):
    """Threads that build or reset singletons wait for each other in a circle.

    Raised in at least one of these threads, so that the others can go on. Nothing is cached by
    the thread that gets it.

    Attributes:
        cycle: The accessors or slots of the circle, in waiting order, the first one repeated at
            the end.
    """

    cycle: tuple[str, ...] = ()


# _typing.py:
# The typing names that the library needs, without importing `typing` at run time.
#
# Importing `typing` would cost a plugin more than the whole library does. Type checkers take the
# first branch: they treat any name `TYPE_CHECKING` as true.


if TYPE_CHECKING:

    K = TypeVar("K")
    T = TypeVar("T")
    D = TypeVar("D")
    Ts = TypeVarTuple("Ts")
else:
    from types import GenericAlias

    K = "K"
    T = "T"

    class Generic:
        """Makes `SingletonSlot[Client]` work at run time, as an annotation and as a call."""

        __slots__ = ()
        __class_getitem__ = classmethod(GenericAlias)

    def cast(_kind, value):
        """Return the value; the kind is for type checkers."""
        return value

    def overload(signature):
        """Return the signature; the next definition of the name replaces it."""
        return signature


# _factory.py:
# What a factory and a slot's options must be, and the errors that say so.


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


# _gate.py:
# The build lock: one thread at a time, and an error wherever a plain lock would hang.
#
# A `Gate` is a lock that knows which thread holds it. Two kinds of hang become errors:
#
# - the holder comes back to its own gate (`RecursiveBuildError`);
# - threads that each hold a gate wait for each other's in a circle (`BuildDeadlockError`).
#
# The second is found on the wait-for graph: *gate -> the thread that holds it -> the gate which that
# thread waits for -> ...*. A thread can wait for several gates at once: a signal handler or a
# finaliser runs on top of a wait, and can come to wait itself. Each of these waits keeps the thread
# from releasing what it held before, and nothing else. The graph changes while it is read, and no
# lock protects it. It needs none, for two reasons:
#
# - **No circle is missed.** A thread publishes its wait before it looks. Of the threads of a circle,
#   the one that published last sees all the others.
# - **No circle is made up.** Every edge is an object of its own, put in place once and taken away
#   once. An edge seen twice was there all the time in between. If two walks, one after the other,
#   meet the same edges, then all of them existed at the moment between the two walks.
#
# What the graph cannot show: a factory that waits for a helper thread which needs the slot, and a
# lock of yours that is held around `reset` and taken by the factory.
#
# A forked child has only the thread that forked. Gates, waits, and instances that belong to the
# parent are renewed there by one hook for all slots: cheaper, and safer, than taking every lock
# before each fork. It runs before any of the program's own code but the after-fork hooks that were
# registered before this module was imported; those must not call an accessor.


if TYPE_CHECKING:


    class Renewable(Protocol):
        """What the fork hook renews."""

        def renew(self) -> None:
            """Forget the parent's threads, and let go of what the parent built."""


class Gate:
    """A lock that knows its holder and refuses to wait for ever.

    A gate is used in one process only: a forked child gets a new one, since the thread that held
    the old one may not exist there.
    """

    __slots__ = ("_lock", "_reentrant", "holder", "name")

    def __init__(self, name: str, *, reentrant: bool = False) -> None:
        # Re-entrant, although nobody means to enter twice. Up to 3.11, leaving a `with` block
        # allocates the arguments of `__exit__`; that can start the garbage collector, and a
        # finaliser can come back here between the two last steps of the invariant below. All is
        # done by then: it may go on, where a plain lock would hang.
        self._lock = _thread.RLock()
        # Invariant: `holder` is set by the thread that has just taken `_lock`, and cleared by the
        # same thread before it lets go. Whoever finds its own thread here holds the lock.
        self.holder: _Hold | None = None
        self.name = name
        # Whether the holder may come back: for work that is whole at each of its steps.
        self._reentrant = reentrant

    def hold(self, doing: str, work: Callable[[*Ts], T], *args: *Ts) -> T:
        """Return `work(*args)`, run while this thread alone holds the gate.

        Args:
            doing: What the caller wants, for the error text: "get" or "reset".
            work: Called with the gate held.
            args: Passed to `work`.

        Raises:
            RecursiveBuildError: This thread holds the gate already.
            BuildDeadlockError: Waiting here would close a circle of waiting threads.
        """
        thread = _thread.get_ident()
        holder = self.holder
        if holder is not None and holder.thread == thread:
            if self._reentrant:
                return work(*args)
            raise _recursive(self.name, doing, holder.doing)
        outer = _waiting.get(thread)
        hold = _Hold(thread, self, doing, outer)
        _waiting[thread] = hold
        try:
            _refuse_deadlock(hold)
            # `with` on the lock itself: no signal handler and no KeyboardInterrupt can come between
            # taking the lock and the next line, nor between clearing the holder and releasing the
            # lock. Neither line may call or allocate anything.
            with self._lock:
                self.holder = hold
                try:
                    _waiting[thread] = outer
                    return work(*args)
                finally:
                    self.holder = None
        finally:
            # Not in a function: calling it would let a signal handler in first, and when that
            # raises, the wait would stay behind.
            if outer is None:
                _waiting.pop(thread, None)
            else:
                _waiting[thread] = outer


_alive: WeakSet[Renewable] = WeakSet()


def register(state: Renewable) -> None:
    """Have `state.renew()` called in every forked child for as long as `state` lives."""
    _alive.add(state)


def alive() -> list[Renewable]:
    """Return everything registered that still lives."""
    while True:
        try:
            return list(_alive)
        except RuntimeError:  # another thread has just registered something: look again
            continue


def set_aside(instance: object) -> None:
    """Keep an instance of the parent's alive until the child has ended, finaliser included.

    Its finaliser would write to a connection that the parent still uses. Module globals do not
    keep it from running: the interpreter clears them on its way out. This reference is never
    cleared: the garbage collector does not look for references in a code object's file name, so
    it cannot see that the label and the code object keep each other alive. (In its constants it
    does look on free-threaded builds.)
    """
    label = _Label()
    label.kept = (instance, set_aside.__code__.replace(co_filename=label))


class _Label(str):
    """A string that can keep an object alive."""

    __slots__ = ("kept",)

    kept: tuple[object, ...]


class _Hold:
    """One thread's wait for one gate, and then its tenure there: an edge of the wait-for graph.

    Every call of `Gate.hold` makes a new one, and it is compared by identity.
    """

    __slots__ = ("doing", "gate", "outer", "thread")

    def __init__(self, thread: int, gate: Gate, doing: str, outer: _Hold | None) -> None:
        self.thread = thread
        self.gate = gate
        self.doing = doing
        # The wait that a signal handler or a finaliser interrupted to come here. It goes on only
        # after this hold has ended, so it cannot keep this hold from ending.
        self.outer = outer


# The innermost wait of each thread, if it waits. Only the thread itself writes its entry.
_waiting: dict[int, _Hold | None] = {}


def _refuse_deadlock(wait: _Hold) -> None:
    circle = _circle(wait)
    while circle:
        again = _circle(wait)
        if again == circle:
            waits = circle[::2]
            raise _deadlock([waits[-1].gate.name, *(step.gate.name for step in waits)])
        circle = again


def _circle(wait: _Hold) -> list[_Hold]:
    """Return the edges from this wait back to a hold of the same thread, or nothing.

    Waits and holds alternate, a wait first.
    """
    seen: list[_Hold] = []
    paths = [[wait]]
    while paths:
        path = paths.pop()
        holder = path[-1].gate.holder
        if holder is None or holder in seen:
            continue
        if holder.thread == wait.thread:
            return [*path, holder]
        seen.append(holder)
        step = _waiting.get(holder.thread)
        while step is not None and step is not holder.outer:
            paths.append([*path, holder, step])
            step = step.outer
    return []


def _recursive(name: str, doing: str, running: str) -> RecursiveBuildError:
    error = RecursiveBuildError(
        f"{name}: {doing}() was called by the thread that is already inside {running}() of it. "
        "Going on would hang, or build a second instance. Let the factory take what it needs as "
        "an argument, and call the accessor only after it has returned."
    )
    error.name = name
    return error


def _deadlock(names: list[str]) -> BuildDeadlockError:
    error = BuildDeadlockError(
        f"circular singletons: {' -> '.join(names)}. Each of these threads holds one and waits "
        "for the next; all would hang. Let only one of the factories call the other accessor."
    )
    error.cycle = tuple(names)
    return error


def _renew_all() -> None:
    _waiting.clear()
    for state in alive():
        state.renew()


if hasattr(os, "register_at_fork"):  # absent where there is no fork, as on Windows
    os.register_at_fork(after_in_child=_renew_all)


# _tenure.py:
# How long an instance is in use: `reset` retires it, the last lease lets it be closed.


class Tenure(Generic[T]):
    """One instance's time in a slot, and the leases on it.

    Invariant: of all calls of `retire` and `give_back`, at most one returns true: the one that
    finds the instance retired and without a lease. No call of `borrow` succeeds after that.
    """

    __slots__ = ("_leases", "_lock", "_pid", "_retired", "instance")

    def __init__(self, instance: T, *, ours: bool = True) -> None:
        self.instance = instance
        # A process closes what it has built itself. In a forked child the counts below are the
        # parent's, and the lock may be held by a thread that does not exist: neither is touched.
        self._pid = getpid() if ours else None
        # Held for a few lines that call nothing. Re-entrant for the reason that `Gate` gives: up
        # to 3.11 a finaliser can run, and want it too, when they are done.
        self._lock = _thread.RLock()
        self._leases = 0
        self._retired = False

    def borrow(self) -> bool:
        """Add a lease, unless the instance is retired."""
        with self._lock:
            if self._retired:
                return False
            self._leases += 1
            if self._pid == getpid():  # or else it is not counted down either
                _in_use.tenures.add(self)
            return True

    def give_back(self) -> bool:
        """End a lease, and return whether the instance is to be closed now."""
        if self._pid != getpid():
            return False
        with self._lock:
            self._leases -= 1
            if self._leases:
                return False
            _in_use.tenures.discard(self)
            return self._retired

    def retire(self) -> bool:
        """Allow no more leases, and return whether the instance is to be closed now."""
        if self._pid != getpid():
            return False
        with self._lock:
            first, self._retired = not self._retired, True
            return first and self._leases == 0

    def close(self, close: Callable[[T], object]) -> None:
        """Close the instance, for whoever was told to."""
        _in_use.tenures.add(self)
        try:
            call_close(close, self.instance)
        finally:
            _in_use.tenures.discard(self)


class Lease(Generic[T]):
    """A context manager that gives an instance, and keeps it open until the block ends.

    Enter it in one thread at a time: each `with` statement takes a new lease from its slot.
    """

    __slots__ = ("_borrow", "_close", "_tenure")

    def __init__(
        self, borrow: Callable[[], Tenure[T]], close: Callable[[T], object] | None
    ) -> None:
        self._borrow = borrow
        self._close = close
        self._tenure: Tenure[T] | None = None

    def __enter__(self) -> T:
        if self._tenure is not None:
            msg = (
                "this lease is already entered: its first exit would end both uses. "
                "Call lease() again for each with statement."
            )
            raise SingletonError(msg)
        self._tenure = self._borrow()
        return self._tenure.instance

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        tenure, self._tenure = self._tenure, None
        if tenure is not None:
            end_lease(tenure, self._close)


def end_lease(tenure: Tenure[T], close: Callable[[T], object] | None) -> None:
    """End one lease on `tenure`, and close its instance if that was the last of a retired one."""
    if tenure.give_back() and close is not None:
        tenure.close(close)


class _InUse:
    """The instances that are leased or being closed, in their slots or not.

    When a process forks, the thread that goes on in the child can be one that uses them. Its last
    reference would run the finaliser of an instance that is the parent's.
    """

    __slots__ = ("__weakref__", "tenures")

    def __init__(self) -> None:
        self.tenures: set[Tenure[Any]] = set()

    def renew(self) -> None:
        """Start over in a forked child."""
        for tenure in self.tenures:
            set_aside(tenure)
        self.tenures = set()


_in_use = _InUse()
register(_in_use)


# _slot.py:
# `SingletonSlot`: a place for one lazily built instance.


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


# _keyed.py:
# `KeyedSlots`: one lazily built instance for each key.


class KeyedSlots(Generic[K, T]):
    """Holds at most one instance for each key and process, built by whoever comes first.

    Use it for one client per profile, account or URL. The key must hold everything that the build
    depends on; put a fingerprint of a secret into it, not the secret.

    Concurrency: callers of one key get one instance, as from a `SingletonSlot`. Callers of
    different keys never wait for each other's builds. A call that finds an instance takes no lock.

    Failure: as for `SingletonSlot`. A key whose build has failed leaves nothing behind.

    Re-entrancy: as for `SingletonSlot`, for each key. A factory may get another key. A key's
    `__hash__` and `__eq__` run while the table is held, and must not take a lock of yours.

    Args:
        close: As for `SingletonSlot`.
        fork: As for `SingletonSlot`.
        on_failure: As for `SingletonSlot`.
        max_size: How many instances to keep. When there are more, the least recently used ones
            are dropped, about: an instance used since the last look gets a second chance. A key
            that is being built or waited for is never dropped. Together with `close` only
            `lease` can be used, since nobody knows who still holds what `get` has returned.
        name: As for `SingletonSlot`. Keys are never shown in errors: they can hold secrets.

    Raises:
        TypeError: An option is of the wrong type.
        ValueError: An option is none of its values, or `max_size` is below 1.

    Example:
        ```python
        from plugin_utils import KeyedSlots

        class Client:
            def __init__(self, profile: str) -> None:
                self.profile = profile

        clients: KeyedSlots[str, Client] = KeyedSlots(name="clients")
        work = clients.get("work", Client, "work")
        assert clients.get("work", Client, "work") is work
        assert clients.get("home", Client, "home") is not work
        ```
    """

    # Invariant: a slot is added to `_table`, and taken out of it, by whoever holds `_gate`, and
    # taken out only when nobody builds, waits or resets in it (`users`). So two threads that want
    # the same key always meet in the same slot. To look up a key runs its `__eq__`, and any step
    # can run a finaliser. Both may come back here, so the gate is re-entrant; and both may wait
    # for a slot, so it is a gate: a lock would hide that wait from the search for deadlocks.
    __slots__ = (
        "__weakref__",
        "_close",
        "_fork",
        "_gate",
        "_max_size",
        "_name",
        "_on_failure",
        "_table",
    )

    def __init__(
        self,
        *,
        close: Callable[[T], object] | None = None,
        fork: Literal["rebuild", "keep"] = "rebuild",
        on_failure: Literal["retry", "share"] = "retry",
        max_size: int | None = None,
        name: str | None = None,
    ) -> None:
        check_options(close, fork, on_failure, name)
        check_close(close)
        _check_max_size(max_size)
        self._close = close
        self._fork: Literal["rebuild", "keep"] = fork
        self._on_failure: Literal["retry", "share"] = on_failure
        self._max_size = max_size
        self._name = name
        self._gate = self._new_gate()
        self._table: dict[K, _KeySlot[T]] = {}
        register(self)

    def get(self, key: K, factory: Callable[[*Ts], T], *args: *Ts) -> T:
        """Return the key's instance, built by `factory(*args)` if there is none.

        Args:
            key: Anything hashable. A key that changes after use is not found again, nor is its
                instance ever dropped.
            factory: As for `SingletonSlot.get`.
            args: As for `SingletonSlot.get`.

        Raises:
            TypeError: The key is not hashable; otherwise as for `SingletonSlot.get`.
            ValueError: There are both `max_size` and `close`: use `lease`.
            Exception: As for `SingletonSlot.get`.
        """
        if self._max_size is not None:
            return self._get_bounded(key, factory, args)
        try:
            return self._table[key]._instance
        except (KeyError, AttributeError):
            pass
        return self._using(key, lambda slot: slot.get(factory, *args))

    @overload
    def peek(self, key: K) -> T | None: ...
    @overload
    def peek(self, key: K, default: D) -> T | D: ...
    def peek(self, key: K, default: D | None = None) -> T | D | None:
        """Return the key's instance, or `default` if there is none. Never builds or waits."""
        slot = self._table.get(key)
        return default if slot is None else slot.peek(default)

    def reset(self, key: K, expected: object = UNSET, *, close: bool = True) -> bool:
        """Drop the key's instance, and return whether there was one to drop.

        Args and errors are those of `SingletonSlot.reset`.
        """
        if key not in self._table:
            return False
        return self._using(key, lambda slot: slot.reset(expected, close=close))

    def reset_all(self, *, close: bool = True) -> int:
        """Drop the instances of all keys there are now, and return how many.

        Args:
            close: Whether to call `close` with each dropped instance.

        Raises:
            ExceptionGroup: What `reset` raised for some of them. The rest is dropped all the same.
        """
        dropped = 0
        errors: list[Exception] = []
        for key in self._table.copy():
            try:
                dropped += self.reset(key, close=close)
            except Exception as error:  # noqa: BLE001 - raised below, when the rest is dropped too
                errors.append(error)
        _raise_all(errors)
        return dropped

    def lease(self, key: K, factory: Callable[[*Ts], T], *args: *Ts) -> Lease[T]:
        """Return a context manager that gives the key's instance and keeps it from being closed.

        As `SingletonSlot.lease`. With `max_size`, a leased instance can be dropped too: it is
        closed when its last lease ends, and a new caller of its key gets a new one. What `close`
        raises for an instance that is dropped to make room reaches the caller that made it
        necessary, as an `ExceptionGroup`: its `with` block does not run, and it holds no lease.
        """

        def borrow() -> Tenure[T]:
            taken: list[Tenure[T]] = []

            def take(slot: _KeySlot[T]) -> Tenure[T]:
                taken.append(slot.borrow(factory, args))
                return taken[0]

            try:
                return self._using(key, take)
            except BaseException:
                for tenure in taken:  # who does not enter the block does not leave it either
                    end_lease(tenure, self._close)
                raise

        return Lease(borrow, self._close)

    def renew(self) -> None:
        """Start over in a forked child. Called by the fork hook; not for you to call."""
        self._gate = self._new_gate()
        # The slots stay, emptied by their own hook: a factory that has forked is in one of them.
        for slot in self._table.values():
            slot.users = {visit for visit in slot.users if visit.thread == get_ident()}
            for visit in slot.users:
                visit.users = slot.users

    def _get_bounded(self, key: K, factory: Callable[[*Ts], T], args: tuple[*Ts]) -> T:
        if self._close is not None:
            msg = (
                f"{self!r} has max_size and close: it would close what a caller of get() still "
                "uses. Use `with slots.lease(key, factory) as instance:`."
            )
            raise ValueError(msg)
        slot = self._table.get(key)
        if slot is not None:
            try:
                instance = slot._instance
            except AttributeError:
                pass
            else:
                slot.used = True
                return instance
        return self._using(key, lambda slot: slot.get(factory, *args))

    def _using(self, key: K, work: Callable[[_KeySlot[T]], D]) -> D:
        """Return `work(slot)`, with the key's slot kept in the table meanwhile."""
        visit = _Visit()
        try:
            return work(self._gate.hold("use", self._enter, key, visit))
        finally:
            # One call into C: an interrupt comes before or after it, and not in between.
            visit.users.discard(visit)
            self._tidy(key)

    def _enter(self, key: K, visit: _Visit) -> _KeySlot[T]:
        """Return the key's slot, with the visit among its users. The gate is held."""
        slot = self._table.get(key)
        if slot is None:
            slot = self._table.setdefault(key, self._new_slot())
        visit.users = slot.users  # before it is added: whatever happens then, it can be taken out
        visit.users.add(visit)
        slot.used = slot.built()
        return slot

    def _new_slot(self) -> _KeySlot[T]:
        return _KeySlot(
            close=self._close, fork=self._fork, on_failure=self._on_failure, name=self._name
        )

    def _new_gate(self) -> Gate:
        return Gate(self._name or type(self).__name__, reentrant=True)

    def _tidy(self, key: K) -> None:
        """Take the key's slot out if it is empty and unused, and others if there are too many."""
        try:
            retired = self._gate.hold("tidy", self._take_out, key)
        except BuildDeadlockError:
            return  # nobody is harmed by an empty slot; whoever comes next tidies
        errors: list[Exception] = []
        for old in retired:
            try:
                old.reset()
            except Exception as error:  # noqa: BLE001 - as in reset_all
                errors.append(error)
        _raise_all(errors)

    def _take_out(self, key: K) -> list[_KeySlot[T]]:
        """Take out what is not needed, and return what is to be dropped. The gate is held."""
        slot = self._table.get(key)
        if slot is not None and not slot.users and not slot.built():
            del self._table[key]
        if self._max_size is None:
            return []
        return self._evict(len(self._table) - self._max_size, slot)

    def _evict(self, surplus: int, newest: _KeySlot[T] | None) -> list[_KeySlot[T]]:
        """Take so many slots out, the oldest first, and return them. The gate is held.

        A slot that was used since the last look is passed over once. The newest stays. Empty ones
        are what a fork leaves; they go first, and count for nothing.
        """
        retired: list[_KeySlot[T]] = []
        if surplus > 0:
            surplus -= self._drop_empty()
        table = self._table.copy()
        for key, slot in [*table.items(), *table.items()]:
            if len(retired) >= surplus:
                break
            if slot.users or slot is newest or self._table.get(key) is not slot:
                continue
            if slot.used:
                slot.used = False
            else:
                del self._table[key]
                retired.append(slot)
        return retired

    def _drop_empty(self) -> int:
        """Take out the slots that are empty and unused, and return how many. The gate is held."""
        table = self._table.copy()
        empty = [key for key, slot in table.items() if not slot.users and not slot.built()]
        for key in empty:
            del self._table[key]
        return len(empty)

    def __len__(self) -> int:
        """Return how many keys have an instance."""
        return sum(1 for _ in self)

    def __contains__(self, key: K) -> bool:
        return self.peek(key, UNSET) is not UNSET

    def __iter__(self) -> Iterator[K]:
        """Iterate over the keys that have an instance now."""
        return iter([key for key, slot in self._table.copy().items() if slot.built()])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name or 'unnamed'!r}: {len(self)} built>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        msg = (
            f"cannot copy or pickle {self!r}: a copy would build second instances. "
            "Keep the slots in a module and import them where you need them."
        )
        raise TypeError(msg)


class _KeySlot(SingletonSlot[T]):
    """One key's slot, and who is in it."""

    # `users` holds a visit for each call that builds, waits or resets here.
    # `used` is the second-chance bit of a bounded table.
    __slots__ = ("used", "users")

    def __init__(
        self,
        *,
        close: Callable[[T], object] | None,
        fork: Literal["rebuild", "keep"],
        on_failure: Literal["retry", "share"],
        name: str | None,
    ) -> None:
        super().__init__(close=close, fork=fork, on_failure=on_failure, name=name)
        self.users: set[_Visit] = set()
        self.used = False

    def built(self) -> bool:
        return self.peek(UNSET) is not UNSET


class _Visit:
    """One call's use of a slot, and where that is noted."""

    __slots__ = ("thread", "users")

    def __init__(self) -> None:
        self.thread = get_ident()
        self.users: set[_Visit] = set()


def _raise_all(errors: list[Exception]) -> None:
    if errors:
        msg = f"{len(errors)} of the instances could not be dropped cleanly"
        raise ExceptionGroup(msg, errors)


def _check_max_size(max_size: object) -> None:
    if max_size is None:
        return
    if not isinstance(max_size, int) or isinstance(max_size, bool):
        msg = f"max_size must be a number of instances or None, not {max_size!r}"
        raise TypeError(msg)
    if max_size < 1:
        msg = f"max_size must be at least 1, not {max_size!r}: nothing could be kept"
        raise ValueError(msg)


# _lazy.py:
# `lazy_singleton`: turns a function without arguments into an accessor that runs it once.


if TYPE_CHECKING:


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
