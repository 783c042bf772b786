"""What kind of object a call has just returned.

Right after a call, the opcode that takes its result sees nothing but the stack. The return of a
Python function is reported, and so is every call: that tells the kind of its result.
"""

from __future__ import annotations

import _thread
import os
from types import FrameType
from typing import Final

__all__ = ("ATOMS", "note_call", "note_return", "result_is_atom", "returns_atom")

# What has no parts that anyone could change.
ATOMS: Final = frozenset({int, float, complex, str, bytes, bool, type(None), type(...)})
_ATOM_FUNCTIONS: Final = (_thread.get_ident, os.getpid)

# For each thread, the frame that was last returned to, by identity, and whether it got an atom.
_last: dict[int, tuple[int, bool]] = {}


def note_call() -> None:
    """Forget the last result: the calling thread is about to call something."""
    _last.pop(_thread.get_ident(), None)


def note_return(frame: FrameType, value: object) -> None:
    """Take note of what a frame is about to return. The value itself is not kept."""
    _last[_thread.get_ident()] = (id(frame.f_back), type(value) in ATOMS)


def result_is_atom(frame: FrameType) -> bool:
    """Return whether the last call that this frame has made is known to have returned an atom."""
    return _last.get(_thread.get_ident()) == (id(frame), True)


def returns_atom(function: object) -> bool:
    """Return whether a builtin function is known to return nothing but atoms."""
    return any(function is known for known in _ATOM_FUNCTIONS)
