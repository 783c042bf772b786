"""The build lock: one thread at a time, and an error wherever a plain lock would hang.

A `Gate` is a lock that knows which thread holds it. Two kinds of hang become errors:

- the holder comes back to its own gate (`RecursiveBuildError`);
- threads that each hold a gate wait for each other's in a circle (`BuildDeadlockError`).

The second is found on the wait-for graph: *gate -> the thread that holds it -> the gate which that
thread waits for -> ...*. A thread can wait for several gates at once: a signal handler or a
finaliser runs on top of a wait, and can come to wait itself. Each of these waits keeps the thread
from releasing what it held before, and nothing else. The graph changes while it is read, and no
lock protects it. It needs none, for two reasons:

- **No circle is missed.** A thread publishes its wait before it looks. Of the threads of a circle,
  the one that published last sees all the others.
- **No circle is made up.** Every edge is an object of its own, put in place once and taken away
  once. An edge seen twice was there all the time in between. If two walks, one after the other,
  meet the same edges, then all of them existed at the moment between the two walks.

What the graph cannot show: a factory that waits for a helper thread which needs the slot, and a
lock of yours that is held around `reset` and taken by the factory.

A forked child has only the thread that forked. Gates, waits, and instances that belong to the
parent are renewed there by one hook for all slots: cheaper, and safer, than taking every lock
before each fork. It runs before any of the program's own code but the after-fork hooks that were
registered before this module was imported; those must not call an accessor.
"""

from __future__ import annotations

import _thread  # `threading` has the same two functions, at a third of this package's import time
import os
from _weakrefset import WeakSet  # what `weakref` re-exports, without the rest: half a millisecond

from plugin_utils._typing import TYPE_CHECKING
from plugin_utils.errors import BuildDeadlockError, RecursiveBuildError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from plugin_utils._typing import T, Ts

    class Renewable(Protocol):
        """What the fork hook renews."""

        def renew(self) -> None:
            """Forget the parent's threads, and let go of what the parent built."""


__all__ = ("Gate", "alive", "register", "set_aside")


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
