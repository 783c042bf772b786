"""Python 3.11: threads are watched with `sys.settrace`, which sees every opcode before it runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import TYPE_CHECKING

from plugin_utils.testing.interleaving._callbacks import Callbacks
from plugin_utils.testing.interleaving._points import table
from plugin_utils.testing.interleaving._stack import next_call
from plugin_utils.testing.interleaving._touch import EVERYTHING, Touch

if TYPE_CHECKING:
    from _typeshed import TraceFunction

__all__ = ("Instrument",)


class Instrument:
    """Reports what watched code is about to touch, from inside the thread that runs it.

    Args:
        files: The file names of the code to watch.
        ours: The file names of the explorer's own code, whose calls are no steps.
        reach: Called with the frame and the touch before each opcode that can touch something.
    """

    def __init__(
        self,
        files: Collection[str],
        ours: Collection[str],
        reach: Callable[[FrameType, Touch], None],
    ) -> None:
        self._files = files
        self._ours = ours
        self._reach = reach
        self.callbacks = Callbacks(files, ours, reach)
        self._tracers: dict[int, TraceFunction] = {}

    @contextmanager
    def installed(self, codes: Collection[CodeType]) -> Generator[None]:
        """Watch nothing more: tracing needs no preparation, and finds the code by its file."""
        del codes
        yield

    @contextmanager
    def thread(self) -> Generator[None]:
        """Watch what the calling thread runs in the `with` block."""
        other = sys.gettrace()
        sys.settrace(self._trace)
        try:
            yield
        finally:
            sys.settrace(other)

    def _trace(self, frame: FrameType, event: str, _argument: object) -> TraceFunction | None:
        if event != "call":  # of a frame that was running already when tracing began
            return None
        if frame.f_code.co_filename not in self._files:
            self._foreign(frame)
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._tracer(frame.f_code)

    def _tracer(self, code: CodeType) -> TraceFunction:
        """Return the trace function of one code object, which looks up nothing but the offset."""
        if id(code) not in self._tracers:
            points, calls, _ = table(code)

            def trace(frame: FrameType, event: str, argument: object) -> TraceFunction:
                if event == "opcode":
                    if toucher := points.get(frame.f_lasti):
                        self._reach(frame, toucher(frame))
                    elif site := calls.get(frame.f_lasti):
                        called, first = next_call(frame, site.opcode, site.argument)
                        self.callbacks.call(frame, frame.f_lasti, called, first)
                elif event == "return":
                    self.callbacks.end(frame, argument)
                return trace

            self._tracers[id(code)] = trace
        return self._tracers[id(code)]

    def _foreign(self, frame: FrameType) -> None:
        """Take a call from watched code into other code for one that may touch anything."""
        caller, file = frame.f_back, frame.f_code.co_filename
        if not caller or caller.f_code.co_filename not in self._files or file in self._ours:
            return
        if not self.callbacks.is_direct(caller, frame):  # or it has been reported
            self._reach(caller, EVERYTHING)
