"""Stops a thread at one of its lines, and lets another one work there: one forced schedule."""

import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import get_ident
from time import monotonic, sleep
from types import FrameType
from typing import Any

from tests.support.waiting import is_waited_for

__all__ = ("Preempt",)

Trace = Callable[[FrameType, str, Any], Any]


class Preempt:
    """Runs one thread, and another one in the middle of it.

    Args:
        line: At which line that the first thread runs in `files`, counted from 1.
        files: What the names of the files begin with. Lines elsewhere do not count.
        limit: Seconds until the first thread goes on when the second waits for it. A wait at one
            of our gates is seen at once.

    Attributes:
        place: Where the first thread was stopped; empty if it has ended before.
    """

    def __init__(self, line: int, files: tuple[str, ...], limit: float) -> None:
        self._left = line
        self._files = files
        self._limit = limit
        self.place = ""

    def run(self, first: Callable[[], object], second: Callable[[], object]) -> None:
        """Run both. What they raise is raised here."""
        with ThreadPoolExecutor(1) as pool:
            running: list[Future[object]] = []

            def trace(frame: FrameType, event: str, _arg: object) -> Trace | None:
                code = frame.f_code
                if not code.co_filename.startswith(self._files):
                    return None
                self._left -= event == "line"
                if not self._left and not running:
                    self.place = f"{code.co_name}:{frame.f_lineno}"
                    running.append(pool.submit(second))
                    self._wait(running[0])
                return trace

            tracer = sys.gettrace()
            sys.settrace(trace)
            try:
                first()
            finally:
                sys.settrace(tracer)
            for future in running:
                future.result(60)

    def _wait(self, future: Future[object]) -> None:
        end = monotonic() + self._limit
        while not future.done() and not is_waited_for(get_ident()) and monotonic() < end:
            sleep(0)
