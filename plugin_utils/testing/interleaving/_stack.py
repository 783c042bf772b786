"""Python 3.11: what a call is about to call.

Tracing shows the opcode, and profiling only those calls that end in a C function: a partial, or the
wrapper of `functools.cache`, is seen by neither. The interpreter has put its stack in order when it
calls a trace function, so the callable can be read there. The layout is that of every CPython 3.11.
"""

from __future__ import annotations

import ctypes
from types import FrameType
from typing import Final

from plugin_utils.testing.interleaving._readers import MISSING

__all__ = ("next_call",)

_WORD: Final = ctypes.sizeof(ctypes.c_void_p)
# In a frame object, after the header and `f_back`; in what it points to, `stacktop` and the stack.
_INTERNALS: Final = object.__basicsize__ + _WORD
_STACK_TOP: Final = 8 * _WORD
_STACK: Final = 9 * _WORD


def next_call(frame: FrameType, opcode: str, argument: int) -> tuple[object, object]:
    """Return what the frame's next opcode calls, and a method's owner if that lies beside it.

    Args:
        frame: A frame whose trace function is running.
        opcode: `CALL` or `CALL_FUNCTION_EX`.
        argument: That of the opcode.
    """
    if opcode == "CALL_FUNCTION_EX":
        return _from_top(frame, 2 + argument % 2), MISSING
    # A method lies below its owner; in its place is nothing if a plain callable was loaded.
    method = _from_top(frame, argument + 2)
    below = _from_top(frame, argument + 1)
    return (below, MISSING) if method is MISSING else (method, below)


def _from_top(frame: FrameType, depth: int) -> object:
    internals = ctypes.c_void_p.from_address(id(frame) + _INTERNALS).value
    assert internals  # noqa: S101 - a frame that runs has them
    top = ctypes.c_int.from_address(internals + _STACK_TOP).value
    place = internals + _STACK + (top - depth) * _WORD
    if ctypes.c_void_p.from_address(place).value is None:
        return MISSING
    found: object = ctypes.py_object.from_address(place).value
    return found
