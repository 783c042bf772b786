"""Python 3.12 and later: code is watched with `sys.monitoring`.

Opcode events of `sys.settrace` are lost on 3.12, and monitoring is several times faster.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any

from plugin_utils.testing.interleaving._calls import call_touch
from plugin_utils.testing.interleaving._errors import ExplorerError
from plugin_utils.testing.interleaving._points import CallSite, table
from plugin_utils.testing.interleaving._readers import MISSING
from plugin_utils.testing.interleaving._results import note_call, note_return
from plugin_utils.testing.interleaving._touch import EVERYTHING, Touch

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
        self._ours = ours
        self._reach = reach

    @contextmanager
    def installed(self, codes: Collection[CodeType]) -> Generator[None]:
        """Report from `codes`, and what is nested in them, in the `with` block.

        Events stay set for the life of the process, since a free-threaded 3.13 loses events that
        are cleared and set again. Only the callbacks come and go.
        """
        kinds = _monitoring.events
        callbacks = {
            kinds.INSTRUCTION: self._opcode,
            kinds.CALL: self._call,
            kinds.PY_RETURN: self._return,
        }
        if _monitoring.get_tool(_TOOL) is None:
            _monitoring.use_tool_id(_TOOL, _NAME)
        if _monitoring.get_tool(_TOOL) != _NAME:
            msg = f"sys.monitoring tool {_TOOL} is taken by {_monitoring.get_tool(_TOOL)!r}"
            raise ExplorerError(msg)
        for code in codes:
            if id(code) not in _WATCHED:
                table(code)
                _WATCHED.add(id(code))
                _monitoring.set_local_events(_TOOL, code, sum(callbacks))
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

    def _call(self, code: CodeType, offset: int, called: object, first: object) -> None:
        frame = sys._getframe(1)
        if frame.f_code.co_filename not in self._files:
            return
        note_call()
        if isinstance(called, MethodType):
            called = called.__func__
        if isinstance(called, FunctionType | type):
            parts = [called] if isinstance(called, FunctionType) else _constructor(called)
            if any(self._is_foreign(part) for part in parts):
                self._reach(frame, EVERYTHING)
            if parts:
                return
        # A method of a builtin type comes unbound, with its owner as the first argument.
        owner = first if hasattr(called, "__objclass__") else getattr(called, "__self__", MISSING)
        site = table(code).calls.get(offset, CallSite())
        self._reach(frame, call_touch(called, owner, site, frame))

    def _return(self, _code: CodeType, _offset: int, value: object) -> None:
        note_return(sys._getframe(1), value)

    def _is_foreign(self, function: FunctionType) -> bool:
        file = function.__code__.co_filename
        return file not in self._files and file not in self._ours


def _constructor(made: type) -> list[FunctionType]:
    parts = (getattr(made, name) for name in ("__new__", "__init__"))
    return [part for part in parts if isinstance(part, FunctionType)]
