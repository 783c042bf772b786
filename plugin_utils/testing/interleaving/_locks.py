"""Locks that let the explorer decide who gets them.

They take the place of Python's own while schedules are run. Outside of that, or in a thread that
is not the explorer's, they are ordinary locks: a lock that was made meanwhile may live on.
"""

from __future__ import annotations

import _thread
import sys
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Final

from plugin_utils.testing.interleaving._races import Step
from plugin_utils.testing.interleaving._run import current_run
from plugin_utils.testing.interleaving._touch import ALONE, Touch

__all__ = ("LOCK", "Lock", "RLock", "replaced", "step")

LOCK: Final = "a lock"
_get_ident: Final = _thread.get_ident
_new_lock: Final = _thread.allocate_lock
_REAL_TYPES: Final = (type(_thread.allocate_lock()), type(_thread.RLock()))


def step(name: str = "step") -> None:
    """Let another thread have its turn here, in a schedule of the explorer.

    Use it in a factory or a finaliser whose work the explorer does not watch. Two steps of the same
    name are tried in both orders. Outside of a schedule it does nothing.

    Args:
        name: What the listing of a schedule calls the step.
    """
    _turn(Step(Touch(name, write=True, key=ALONE), verb="reaches"))


class Lock:
    """A `threading.Lock` whose owner the explorer chooses."""

    def __init__(self) -> None:
        # Invariant: nobody waits for the real lock in a schedule; it is free when it is taken.
        self._real = _new_lock()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:  # noqa: FBT001, FBT002 - as in threading
        """Take the lock. With a timeout, both outcomes are tried."""
        waits = blocking and timeout < 0
        ours = self._turn("takes", waits=waits)
        if not ours and waits and current_run() and self._real.locked():
            msg = "a lock is still held after every thread has ended"
            raise AssertionError(msg)
        # In a schedule it is free now, unless both outcomes are tried.
        taken = self._real.acquire(blocking and not ours, -1 if ours else timeout)
        _go_on()
        return taken

    def release(self) -> None:
        """Let go of the lock."""
        self._turn("releases")
        self._real.release()
        _go_on()

    def locked(self) -> bool:
        """Return whether somebody holds the lock."""
        self._turn("looks at", write=False)
        return self._real.locked()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def _at_fork_reinit(self) -> None:
        self._real = _new_lock()

    def _turn(self, verb: str, *, write: bool = True, waits: bool = False) -> bool:
        touch = Touch(LOCK, write, id(self), ALONE)
        return _turn(Step(touch, verb, id(self), self._is_free, waits=waits))

    def _is_free(self) -> bool:
        return not self._real.locked()


class RLock(Lock):
    """A `threading.RLock` whose owner the explorer chooses."""

    def __init__(self) -> None:
        super().__init__()
        self._owner: int | None = None
        self._depth = 0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:  # noqa: FBT001, FBT002 - as in threading
        """Take the lock, once more if this thread has it already."""
        if self._owner == _get_ident():
            self._depth += 1
            return True
        taken = super().acquire(blocking, timeout)
        if taken:
            self._owner, self._depth = _get_ident(), 1
        return taken

    def release(self) -> None:
        """Let go of the lock once."""
        if self._owner != _get_ident():
            msg = "cannot release un-acquired lock"
            raise RuntimeError(msg)
        self._depth -= 1
        if not self._depth:
            self._owner = None
            super().release()

    # What `threading.Condition` asks of the lock that it is given.

    def _is_owned(self) -> bool:
        return self._owner == _get_ident()

    def _release_save(self) -> int:
        depth, self._depth = self._depth, 1
        self.release()
        return depth

    def _acquire_restore(self, depth: int) -> None:
        self.acquire()
        self._depth = depth


@contextmanager
def replaced(namespaces: Iterable[dict[str, object]]) -> Generator[None]:
    """Put these locks in place of Python's own, also those that the namespaces have already.

    Args:
        namespaces: The globals of the watched code.
    """
    new: dict[int, Callable[[], object]] = {
        id(real): RLock if "RLock" in getattr(real, "__name__", "") else Lock
        for real in (threading.Lock, threading.RLock, _thread.allocate_lock, _thread.RLock)
    }
    standard: list[dict[str, object]] = [threading.__dict__, _thread.__dict__]
    ours = {id(names): names for names in namespaces}
    changed: list[tuple[dict[str, object], str, object]] = []
    for names in [*standard, *ours.values()]:
        for name, value in list(names.items()):
            if id(value) in new:
                names[name] = new[id(value)]
            elif isinstance(value, _REAL_TYPES) and id(names) in ours:
                names[name] = RLock() if isinstance(value, _REAL_TYPES[1]) else Lock()
            else:
                continue
            changed.append((names, name, value))
    try:
        yield
    finally:
        for names, name, value in changed:
            names[name] = value


def _turn(what: Step) -> bool:
    run = current_run()
    return run is not None and run.turn(_caller(), what)


def _go_on() -> None:
    if run := current_run():
        run.go_on(_caller())


def _caller() -> FrameType:
    frame = sys._getframe(1)
    while frame.f_code.co_filename == __file__ and frame.f_back:
        frame = frame.f_back
    return frame
