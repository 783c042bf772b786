"""`run_together`: many first callers at the same moment."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ("run_together",)

T = TypeVar("T")


def run_together(n: int, function: Callable[[], T], *, timeout: float = 10.0) -> list[T]:
    """Call `function` in `n` threads that start at the same moment, and return what they return.

    Threads that are merely started one after another hardly ever meet: the first has finished
    before the last begins. Here a barrier holds all of them back until the last is there.

    Concurrency: call it from any thread. The threads are daemons: one that hangs is reported and
    left behind, and does not keep the process from ending.

    Failure: when threads raise, the exception of the first of them (in the order they were
    started) is raised here, `SystemExit` and `KeyboardInterrupt` included. Each further exception
    is named in a note on it. If others hang meanwhile, the `TimeoutError` has it as its cause.

    Args:
        n: How many threads, at least 1.
        function: Called without arguments, once in each thread.
        timeout: Seconds that all threads together may take.

    Returns:
        The results, in the order in which the threads were started.

    Raises:
        ValueError: `n` is below 1, or `timeout` is not above 0, or longer than threads can wait.
        RuntimeError: There cannot be so many threads. `function` has not been called then.
        TimeoutError: A thread has not ended in time. The text names every such thread and shows
            where it is.
        BaseException: What `function` raised.

    Example:
        ```python
        from plugin_utils import lazy_singleton
        from plugin_utils.testing import run_together

        @lazy_singleton
        def client() -> object:
            return object()

        assert len(set(run_together(8, client))) == 1
        ```
    """
    if n < 1:
        msg = f"n must be at least 1 thread, not {n!r}: nothing would be run"
        raise ValueError(msg)
    if not 0 < timeout <= threading.TIMEOUT_MAX:
        msg = (
            f"timeout must be above 0 and at most {threading.TIMEOUT_MAX:.0f} seconds, not "
            f"{timeout!r}: every thread would be late, or none could be waited for"
        )
        raise ValueError(msg)
    barrier = threading.Barrier(n)
    callers = [_Caller(f"run_together-{number}", function, barrier) for number in range(1, n + 1)]
    try:
        for caller in callers:
            caller.start()
    except RuntimeError:  # no more threads: let go of those that wait for the missing ones
        barrier.abort()
        raise
    deadline = time.monotonic() + timeout
    for caller in callers:
        caller.join(max(0.0, deadline - time.monotonic()))
    failure = _first_failure(callers)
    late = [caller for caller in callers if caller.is_alive()]
    if late:
        raise _too_late(late, timeout) from failure
    if failure is not None:
        raise failure
    return [caller.result for caller in callers]


class _Caller(threading.Thread, Generic[T]):
    """One of the threads, and what became of its call."""

    # Set unless the call raised or is still running.
    result: T

    def __init__(self, name: str, function: Callable[[], T], barrier: threading.Barrier) -> None:
        super().__init__(name=name, daemon=True)
        self._function = function
        self._barrier = barrier
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self._barrier.wait()
            self.result = self._function()
        except BaseException as error:  # noqa: BLE001 - raised in the thread that started this one
            self.error = error


def _too_late(late: list[_Caller[T]], timeout: float) -> TimeoutError:
    frames = sys._current_frames()  # noqa: SLF001 - documented, in spite of its name
    stacks = [
        f"\n{caller.name} is at:\n{''.join(traceback.format_stack(frame))}"
        for caller in late
        if (frame := frames.get(caller.ident or 0)) is not None
    ]
    names = ", ".join(caller.name for caller in late)
    return TimeoutError(f"not ended within {timeout:g} s: {names}{''.join(stacks)}")


def _first_failure(callers: list[_Caller[T]]) -> BaseException | None:
    """Return the exception of the first thread that raised, with the others' in notes on it."""
    errors = [(caller.name, caller.error) for caller in callers if caller.error is not None]
    if not errors:
        return None
    _, first = errors[0]
    for name, other in errors[1:]:
        # Threads can share one exception: a slot may hand a failed build's error to all waiters.
        if other is not first:
            first.add_note(f"{name} raised as well: {other!r}")
    return first
