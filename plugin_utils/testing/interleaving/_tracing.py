"""Python 3.11: threads are watched with `sys.settrace` and `sys.setprofile`.

The trace function sees every opcode before it runs. The profile function sees every call of
something written in C, with the very object that is called.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import TYPE_CHECKING

from plugin_utils.testing.interleaving._calls import ATTRIBUTE_METHODS, call_touch
from plugin_utils.testing.interleaving._points import CallSite, table
from plugin_utils.testing.interleaving._readers import MISSING
from plugin_utils.testing.interleaving._results import note_call, note_return
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
        self._tracers: dict[int, TraceFunction] = {}

    @contextmanager
    def installed(self, codes: Collection[CodeType]) -> Generator[None]:
        """Watch nothing more: tracing needs no preparation, and finds the code by its file."""
        del codes
        yield

    @contextmanager
    def thread(self) -> Generator[None]:
        """Watch what the calling thread runs in the `with` block."""
        others = sys.gettrace(), sys.getprofile()
        sys.settrace(self._trace)
        sys.setprofile(self._profile)
        try:
            yield
        finally:
            sys.setprofile(others[1])
            sys.settrace(others[0])

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
            points, calls = table(code)

            def trace(frame: FrameType, event: str, argument: object) -> TraceFunction:
                if event == "opcode":
                    if toucher := points.get(frame.f_lasti):
                        self._reach(frame, toucher(frame))
                    elif site := calls.get(frame.f_lasti):
                        self._call(frame, site)
                elif event == "return":
                    note_return(frame, argument)
                return trace

            self._tracers[id(code)] = trace
        return self._tracers[id(code)]

    def _call(self, frame: FrameType, site: CallSite) -> None:
        # The profile function does not see the calls of types and of special methods.
        called = site.function(frame)
        note_call()
        if isinstance(called, type):
            self._reach(frame, call_touch(called, MISSING, site, frame))
        elif site.method in ATTRIBUTE_METHODS:
            self._reach(frame, EVERYTHING)

    def _profile(self, frame: FrameType, event: str, called: object) -> None:
        if event == "c_call" and frame.f_code.co_filename in self._files:
            site = table(frame.f_code).calls.get(frame.f_lasti, CallSite())
            owner = getattr(called, "__self__", MISSING)
            self._reach(frame, call_touch(called, owner, site, frame))

    def _foreign(self, frame: FrameType) -> None:
        """Take a call from watched code into other code for one that may touch anything."""
        caller, file = frame.f_back, frame.f_code.co_filename
        if caller and caller.f_code.co_filename in self._files and file not in self._ours:
            self._reach(caller, EVERYTHING)
