"""Waiting for a state that another thread brings about, within a time limit."""

import time
from collections.abc import Callable

from plugin_utils import _gate

__all__ = ("is_waited_for", "wait_until", "waiters_of")


def wait_until(condition: Callable[[], object], limit: float = 10.0) -> None:
    """Return as soon as `condition()` is true.

    Args:
        condition: Read again and again.
        limit: In seconds.

    Raises:
        TimeoutError: It did not become true in time.
    """
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            msg = f"not true within {limit} s: {condition}"
            raise TimeoutError(msg)
        time.sleep(0)  # lets the other thread run; how long it takes decides nothing


def waiters_of(gate: _gate.Gate) -> int:
    """Return how many threads wait for the gate now."""
    waits = _gate._waiting.copy().values()
    return sum(1 for wait in waits if wait is not None and wait.gate is gate)


def is_waited_for(thread: int) -> bool:
    """Tell whether another thread waits for a gate that this one holds."""
    waits = [wait for wait in _gate._waiting.copy().values() if wait is not None]
    for wait in waits:
        holder = wait.gate.holder
        if holder is not None and holder.thread == thread != wait.thread:
            return True
    return False
