"""Finds the objects that an opcode will work on, without running any of the program's code."""

from __future__ import annotations

import builtins
import dis
import sys
from collections.abc import Callable, Sequence
from functools import cache
from types import CodeType, FrameType, MemberDescriptorType
from typing import Final, cast

from plugin_utils.testing.interleaving._called import function_of
from plugin_utils.testing.interleaving._operands import UNKNOWN, Operand
from plugin_utils.testing.interleaving._results import result_is_atom, returns_atom

__all__ = ("MISSING", "Reader", "constant", "reader")

MISSING: Final = object()
Reader = Callable[[FrameType], object]
_A_NUMBER: Final = 0  # stands for any value that has no parts


def reader(operand: Operand, code: CodeType) -> Reader:
    """Return a function that finds, in a frame of `code`, the object that an operand is.

    It returns `MISSING` where that cannot be told.
    """
    name = str(operand.value)
    match operand.kind:
        case "constant":
            read = constant(operand.value)
        case "plain":
            read = constant(_A_NUMBER)
        case "builtin":
            read = constant(vars(builtins)[name])
        case "global":
            read = _global(name)
        case "local" if _readable(code):
            read = _local(name)
        case "free" if name in code.co_freevars:
            read = _free(code.co_freevars.index(name))
        case "free" if _readable(code):
            read = _local(name)
        case "attribute" | "item" | "result":
            read = _part(operand, code)
        case _:
            read = constant(MISSING)
    return read


def constant(value: object) -> Reader:
    """Return a reader that finds the same in every frame."""
    return lambda _frame: value


def _global(name: str) -> Reader:
    fallback = vars(builtins).get(name, MISSING)
    return lambda frame: frame.f_globals.get(name, fallback)


def _local(name: str) -> Reader:
    return lambda frame: frame.f_locals.get(name, MISSING)


def _free(place: int) -> Reader:
    def read(frame: FrameType) -> object:
        function = function_of(frame)
        cells = function.__closure__ if function else None
        try:
            return cells[place].cell_contents if cells else MISSING
        except ValueError:  # nothing was assigned to it yet
            return MISSING

    return read


def _part(operand: Operand, code: CodeType) -> Reader:
    """Return a reader of something that belongs to another object, or comes from it."""
    name = str(operand.value)
    owner = reader(operand.owner or UNKNOWN, code)
    if operand.kind == "attribute":
        return lambda frame: _attribute_of(owner(frame), name)
    if operand.kind == "item":
        key = reader(operand.key or UNKNOWN, code)
        return lambda frame: _item_of(owner(frame), key(frame))
    return lambda frame: (
        _A_NUMBER if returns_atom(owner(frame)) or result_is_atom(frame) else MISSING
    )


def _attribute_of(owner: object, name: str) -> object:
    try:
        return object.__getattribute__(owner, "__dict__")[name]
    except (AttributeError, KeyError):
        slot = getattr(type(owner), name, None)
        if isinstance(slot, MemberDescriptorType) and hasattr(owner, name):
            return slot.__get__(owner)
        return MISSING


def _item_of(owner: object, key: object) -> object:
    if type(owner) not in (list, tuple) or type(key) is not int:
        return MISSING
    items = cast("Sequence[object]", owner)
    return items[key] if -len(items) <= key < len(items) else MISSING


def _readable(code: CodeType) -> bool:
    # Before Python 3.13 a tracer that reads `f_locals` writes its snapshot back into the closure
    # cells when it returns, and other threads can have changed those meanwhile.
    return sys.version_info >= (3, 13) or not (code.co_freevars or _assigns_to_cells(code))


@cache
def _assigns_to_cells(code: CodeType) -> bool:
    """Return whether a closure variable is assigned to, in the code or in a function inside it."""
    if any(each.opname in ("STORE_DEREF", "DELETE_DEREF") for each in dis.get_instructions(code)):
        return True
    return any(_assigns_to_cells(one) for one in code.co_consts if isinstance(one, CodeType))
