"""How long an instance is in use: `reset` retires it, the last lease lets it be closed."""

from __future__ import annotations

import _thread
from os import getpid

from plugin_utils._factory import call_close
from plugin_utils._gate import register, set_aside
from plugin_utils._typing import TYPE_CHECKING, Generic, T
from plugin_utils.errors import SingletonError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any

__all__ = ("Lease", "Tenure", "end_lease")


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
