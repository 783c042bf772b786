"""Lets a test act at the moment when a thread, its wait published, turns to a gate's lock."""

import _thread
from collections.abc import Callable
from typing import Any, cast

from plugin_utils._gate import Gate

__all__ = ("notice",)


def notice(gate: Gate, callback: Callable[[], object]) -> None:
    """Call `callback` in each thread that is about to wait for the gate from now on."""
    gate._lock = cast("Any", _NoticedLock(gate._lock, callback))


class _NoticedLock:
    def __init__(self, lock: _thread.RLock, callback: Callable[[], object]) -> None:
        self._lock = lock
        self._callback = callback

    def __enter__(self) -> None:
        self._callback()
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
