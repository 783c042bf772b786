"""What watched code calls, and what goes on once watched code that was called has ended.

Code in C, or in a file that is not watched, can call back. What it does before its first callback
is put down to the call. What it does after a callback, such as storing what that has returned, is
put down to the callback's end: a step of its own, that may touch anything.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from functools import partial
from types import FrameType, FunctionType, MethodType
from typing import Final

from plugin_utils.testing.interleaving._called import (
    forget,
    function_of,
    is_calling,
    note_call_of,
    opcode_at,
)
from plugin_utils.testing.interleaving._calls import call_touch
from plugin_utils.testing.interleaving._points import CallSite, table
from plugin_utils.testing.interleaving._readers import MISSING
from plugin_utils.testing.interleaving._results import note_call, note_return
from plugin_utils.testing.interleaving._touch import EVERYTHING, NAMES, Touch

__all__ = ("Callbacks",)

# It takes no lock unseen, and no closure variable of watched code is within its reach.
_GOES_ON: Final = Touch(NAMES, write=True)
_WITH: Final = ("__enter__", "__exit__")
_WITH_OPCODES: Final = ("BEFORE_WITH", "WITH_EXCEPT_START")


class Callbacks:
    """Reports calls, and the ends of callbacks. Each Python version tells of them in its way.

    Args:
        files: The file names of the code to watch.
        ours: The file names of the explorer's own code, whose calls are no steps.
        reach: Called with the frame and the touch before each step.
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

    def thread(self, frame: FrameType, function: Callable[[], object]) -> None:
        """Take note of what a thread runs; the frame is the explorer's own, which calls it."""
        parts = _python_parts(function)
        note_call_of(frame, parts)
        if not parts or any(map(self._is_foreign, parts)):
            self._reach(frame, EVERYTHING)

    def call(self, frame: FrameType, offset: int, called: object, first: object) -> None:
        """Report a call that a watched frame is about to make.

        Args:
            frame: The caller.
            offset: That of the opcode.
            called: What is called.
            first: Its first argument, if a method is called that is not bound to its owner.
        """
        note_call()
        if isinstance(called, MethodType):
            called = called.__func__
        parts = _python_parts(called)
        note_call_of(frame, parts, offset, table(frame.f_code).ends[offset])
        if any(map(self._is_foreign, parts)):
            self._reach(frame, EVERYTHING)
        elif not parts:
            # A method of a builtin type comes unbound, with its owner as the first argument.
            unbound = hasattr(called, "__objclass__")
            owner = first if unbound else getattr(called, "__self__", MISSING)
            site = table(frame.f_code).calls.get(offset, CallSite())
            self._reach(frame, call_touch(called, owner, site, frame))

    def end(self, frame: FrameType, value: object) -> None:
        """Report that a watched frame is about to return or to yield a value, or to raise."""
        note_return(frame, value)
        forget(frame)
        caller = frame.f_back
        # What calls `threading` uses locks, which have steps of their own: it is no callback.
        if frame.f_code.co_filename == threading.__file__:
            return
        if caller and not self.is_direct(caller, frame):
            self._reach(frame, _GOES_ON)

    def is_direct(self, caller: FrameType, frame: FrameType) -> bool:
        """Return whether nothing but Python code that we know of is between the two frames."""
        file = caller.f_code.co_filename
        if function_of(frame):
            return True
        if file in self._ours:
            return not is_calling(caller)
        if file not in self._files or is_calling(caller):
            return False
        opcode = opcode_at(caller)
        # These enter or leave a `with` block, and do nothing afterwards.
        if frame.f_code.co_name in _WITH and opcode in _WITH_OPCODES:
            return True
        # 3.12 does not tell of a call with `*` if it is that of a Python function.
        return opcode == "CALL_FUNCTION_EX"

    def _is_foreign(self, function: FunctionType) -> bool:
        file = function.__code__.co_filename
        return file not in self._files and file not in self._ours


def _python_parts(called: object) -> tuple[FunctionType, ...]:
    """Return the Python functions that a call runs at once; none if it begins in C."""
    if isinstance(called, MethodType):
        return _python_parts(called.__func__)
    if isinstance(called, FunctionType):
        return (called,)
    if type(called) is partial:
        return _python_parts(called.func)  # it does nothing afterwards
    parts = [_of_class(type(called), "__call__")]
    if isinstance(called, type):
        parts += [_of_class(called, "__new__"), _of_class(called, "__init__")]
    return tuple(part for part in parts if isinstance(part, FunctionType))


def _of_class(made: type, name: str) -> object:
    found = next((vars(kind)[name] for kind in made.__mro__ if name in vars(kind)), None)
    return found.__func__ if isinstance(found, staticmethod) else found
