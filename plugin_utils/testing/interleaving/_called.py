"""What each frame has called last, and so which function a frame runs: frames do not tell."""

from __future__ import annotations

import dis
from collections.abc import Iterable
from types import CodeType, FrameType, FunctionType
from typing import Final, NamedTuple
from weakref import ref

__all__ = ("forget", "function_of", "is_calling", "note_call_of", "opcode_at")

_FAR: Final = 1 << 30


class _Call(NamedTuple):
    """A call that a frame has made, or still makes.

    Args:
        code: That of the frame.
        functions: The Python functions that the call runs at once; none if it begins in C. They
            are not kept alive: what a finaliser waits for must go when it would have gone.
        start: The offset of the call's opcode.
        end: That of the next one.
    """

    code: CodeType
    functions: tuple[ref[FunctionType], ...]
    start: int
    end: int


# By the identity of the frame. Each call in a watched frame overwrites the one before, so what is
# found for a frame that stands at a call is of that call.
_last: dict[int, _Call] = {}


def note_call_of(
    frame: FrameType, functions: Iterable[FunctionType], start: int = 0, end: int = _FAR
) -> None:
    """Take note of a call, right before it.

    Args:
        frame: The caller.
        functions: The Python functions that the call runs at once; none if it begins in C.
        start: The offset of the call's opcode. By default, any.
        end: That of the next one.
    """
    _last[id(frame)] = _Call(frame.f_code, tuple(map(ref, functions)), start, end)


def forget(frame: FrameType) -> None:
    """Forget the calls of a frame that has ended."""
    _last.pop(id(frame), None)


def is_calling(frame: FrameType) -> bool:
    """Return whether the frame stands at a call, and not at another opcode that runs code."""
    return _call_at(frame) is not None


def function_of(frame: FrameType) -> FunctionType | None:
    """Return the function that a frame runs, if watched code has called it and nothing else."""
    caller = frame.f_back
    call = caller and (_call_at(caller) or _unpacked_at(caller))
    functions = [function() for function in call.functions] if call else []
    return next((one for one in functions if one and one.__code__ is frame.f_code), None)


def opcode_at(frame: FrameType) -> str:
    """Return the name of the opcode at which a frame stands."""
    return dis.opname[frame.f_code.co_code[frame.f_lasti]]


def _call_at(frame: FrameType) -> _Call | None:
    last = _last_of(frame)
    return last if last and last.start <= frame.f_lasti < last.end else None


def _unpacked_at(frame: FrameType) -> _Call | None:
    """Return the call whose result the frame unpacks: as in `[*f()]`, of a generator."""
    last = _last_of(frame)
    if last is None or last.end != frame.f_lasti:
        return None
    return last if opcode_at(frame) == "LIST_EXTEND" else None


def _last_of(frame: FrameType) -> _Call | None:
    last = _last.get(id(frame))
    return last if last and last.code is frame.f_code else None
