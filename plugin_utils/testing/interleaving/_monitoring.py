"""Python 3.12 and later: code is watched with `sys.monitoring`.

Opcode events of `sys.settrace` are lost on 3.12, and monitoring is several times faster.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from plugin_utils.testing.interleaving._callbacks import Callbacks
from plugin_utils.testing.interleaving._errors import ExplorerError
from plugin_utils.testing.interleaving._points import table

if TYPE_CHECKING:
    from plugin_utils.testing.interleaving._touch import Touch

__all__ = ("Instrument",)

# Type checkers think of 3.11, the oldest version that we run on, and do not know it there.
_monitoring: Any = vars(sys)["monitoring"]
_NAME = "plugin_utils.testing"
_TOOL = 4  # one of the two numbers that Python reserves for nobody
_WATCHED: set[int] = set()  # codes whose events are set, by identity; `table` keeps them alive


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
        self._reach = reach
        self.callbacks = Callbacks(files, ours, reach)

    @contextmanager
    def installed(self, codes: Collection[CodeType]) -> Generator[None]:
        """Report from `codes`, and what is nested in them, in the `with` block.

        Events stay set for the life of the process, since a free-threaded 3.13 loses events that
        are cleared and set again. Only the callbacks come and go.
        """
        kinds = _monitoring.events
        local = {
            kinds.INSTRUCTION: self._opcode,
            kinds.CALL: self._call,
            kinds.PY_RETURN: self._end,
            kinds.PY_YIELD: self._end,
        }
        callbacks = local | {kinds.PY_UNWIND: self._end}  # which can be had from all code only
        if _monitoring.get_tool(_TOOL) is None:
            _monitoring.use_tool_id(_TOOL, _NAME)
        if _monitoring.get_tool(_TOOL) != _NAME:
            msg = f"sys.monitoring tool {_TOOL} is taken by {_monitoring.get_tool(_TOOL)!r}"
            raise ExplorerError(msg)
        for code in codes:
            if id(code) not in _WATCHED:
                table(code)
                _WATCHED.add(id(code))
                _monitoring.set_local_events(_TOOL, code, sum(local))
        if not _monitoring.get_events(_TOOL):
            _monitoring.set_events(_TOOL, kinds.PY_UNWIND)
        for kind, callback in callbacks.items():
            _monitoring.register_callback(_TOOL, kind, callback)
        try:
            yield
        finally:
            for kind in callbacks:
                _monitoring.register_callback(_TOOL, kind, None)

    @contextmanager
    def thread(self) -> Generator[None]:
        """Watch what the calling thread runs: nothing to do, events come from all threads."""
        yield

    def _opcode(self, code: CodeType, offset: int) -> object:
        toucher = table(code).points.get(offset)
        if toucher is None:
            return _monitoring.DISABLE
        frame = sys._getframe(1)
        if frame.f_code.co_filename in self._files:
            self._reach(frame, toucher(frame))
        return None

    def _call(self, _code: CodeType, offset: int, called: object, first: object) -> None:
        frame = sys._getframe(1)
        if frame.f_code.co_filename in self._files:
            self.callbacks.call(frame, offset, called, first)

    def _end(self, _code: CodeType, _offset: int, value: object) -> None:
        frame = sys._getframe(1)
        if frame.f_code.co_filename in self._files:
            self.callbacks.end(frame, value)
