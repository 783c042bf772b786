"""The opcodes before which another thread may get its turn.

Only an opcode that can touch something shared is a point. All others commute with whatever the
other threads do: leaving them out loses no outcome. An opcode that is not listed here counts as
one that touches every container, so a new Python version costs schedules before it costs truth.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FrameType, ModuleType
from typing import TYPE_CHECKING, Final, NamedTuple

from plugin_utils.testing.interleaving._operands import (
    PLAIN,
    UNKNOWN,
    Operand,
    operand_at,
    operands,
)
from plugin_utils.testing.interleaving._readers import MISSING, Reader, constant, reader
from plugin_utils.testing.interleaving._results import ATOMS
from plugin_utils.testing.interleaving._touch import EVERYTHING, ITEMS, NOTHING, SOME, WHOLE, Touch

if TYPE_CHECKING:
    import dis

__all__ = ("CallSite", "Table", "Toucher", "identity", "item_touch", "table")

# Opcodes that work on the frame's own variables and stack, by the beginning of their names.
_ALWAYS_PRIVATE: Final = (
    *("LOAD_FAST", "STORE_FAST", "DELETE_FAST", "LOAD_CONST", "LOAD_CLOSURE", "LOAD_SPECIAL"),
    *("LOAD_BUILD_CLASS", "LOAD_ASSERTION_ERROR", "LOAD_SMALL_INT", "LOAD_COMMON_CONSTANT"),
    *("POP_TOP", "POP_EXCEPT", "POP_ITER", "PUSH_", "COPY", "SWAP", "BUILD_", "MAKE_", "NOT_TAKEN"),
    *("JUMP_FORWARD", "JUMP_BACKWARD", "POP_JUMP_IF_N", "POP_JUMP_FORWARD_IF_N", "IS_OP", "CHECK_"),
    *("POP_JUMP_BACKWARD_IF_N", "LIST_APPEND", "SET_ADD", "MAP_ADD", "LIST_TO_TUPLE", "END_"),
    *("RETURN_", "RERAISE", "RAISE_", "YIELD_VALUE", "RESUME", "SEND", "GENSTART", "ASYNC_GEN"),
    *("BEFORE_WITH", "WITH_EXCEPT_START", "SETUP_ANNOTATIONS", "SET_FUNCTION_ATTRIBUTE"),
    *("NOP", "CACHE", "PRECALL", "KW_NAMES", "EXTENDED_ARG", "INTERPRETER_EXIT"),
    *("CALL", "CALL_INTRINSIC"),
)
# Opcodes that read or write one name. CALL is not among the points: see `CallSite`.
_ATTRIBUTES: Final = ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR", "IMPORT_FROM")
_VARIABLES: Final = ("_GLOBAL", "_NAME", "_DEREF", "LOAD_CLASSDEREF", "LOAD_SUPER_ATTR")
# Opcodes that look into one container: where it is on the stack, and its key. No key: whether they
# look at its items in their order, or only at how many and which there are.
_CONTAINERS: Final = {
    "BINARY_SUBSCR": (2, 1),
    "STORE_SUBSCR": (2, 1),
    "DELETE_SUBSCR": (2, 1),
    "CONTAINS_OP": (1, 2),
    "BINARY_SLICE": (3, WHOLE),
    "STORE_SLICE": (3, WHOLE),
    "GET_ITER": (1, WHOLE),
    "FOR_ITER": (1, WHOLE),
    "UNPACK_SEQUENCE": (1, WHOLE),
    "UNPACK_EX": (1, WHOLE),
    "LIST_EXTEND": (1, WHOLE),
    "SET_UPDATE": (1, WHOLE),
    "DICT_UPDATE": (1, WHOLE),
    "DICT_MERGE": (1, WHOLE),
    "FORMAT_VALUE": (1, WHOLE),
    "FORMAT_SIMPLE": (1, WHOLE),
    "CONVERT_VALUE": (1, WHOLE),
    "TO_BOOL": (1, SOME),
    "UNARY_NOT": (1, SOME),
}
# Tests of a truth value. Since 3.13 TO_BOOL comes first, and these see nothing but a bool.
_BRANCHES: Final = ("POP_JUMP_", "JUMP_IF_")
_PRIVATE: Final = _ALWAYS_PRIVATE + (_BRANCHES if sys.version_info >= (3, 13) else ())

_SHARED_OWNERS: Final = (type, ModuleType)
_FIXED: Final = ATOMS | {tuple, frozenset, range, slice}


# Tells what an opcode will touch, given the frame that is about to run it.
Toucher = Callable[[FrameType], Touch]


class CallSite(NamedTuple):
    """The operands of a call: a point only if what is called turns out to be written in C.

    A Python function has points of its own.

    Args:
        method: The name of the method, if it is one.
        function: Finds what is called.
        first: Finds the first argument.
        second: Finds the second argument.
    """

    method: str = ""
    function: Reader = constant(MISSING)
    first: Reader = constant(MISSING)
    second: Reader = constant(MISSING)


class Table(NamedTuple):
    """The points and the calls of one code object, by the offset of their opcode."""

    points: Mapping[int, Toucher]
    calls: Mapping[int, CallSite]


# By identity: code objects of different files can be equal. The code is kept, so the key stays his.
_tables: dict[int, tuple[CodeType, Table]] = {}


def table(code: CodeType) -> Table:
    """Return the points and calls of a code object."""
    try:
        return _tables[id(code)][1]
    except KeyError:
        made = Table(dict(_points(code)), dict(_calls(code)))
        _tables[id(code)] = (code, made)
        return made


def identity(value: object) -> int | None:
    """Return what tells apart the attributes of an object, or None for "could be any".

    An instance can see its class's attributes, and instances can share one `__dict__`.
    """
    if value is MISSING or isinstance(value, _SHARED_OWNERS):
        return None
    if type(value).__dictoffset__:
        return id(object.__getattribute__(value, "__dict__"))
    return id(value)


def item_touch(container: object, key: object, *, write: bool) -> Touch:
    """Return the touch of one key of a container, or of all of it (`WHOLE`)."""
    if type(container) in _FIXED:
        return NOTHING
    if key is not WHOLE and not (type(key) in ATOMS and type(container) in (dict, set)):
        key = SOME  # a list's -1 and 0 can be one item, and equal keys can look different
    return Touch(ITEMS, write, None if container is MISSING else id(container), key)


def _points(code: CodeType) -> Iterator[tuple[int, Toucher]]:
    for instruction, stack in operands(code):
        if not instruction.opname.startswith(_PRIVATE):
            yield instruction.offset, _toucher(instruction, _Readers(code, stack))


def _calls(code: CodeType) -> Iterator[tuple[int, CallSite]]:
    for instruction, stack in operands(code):
        if instruction.opname == "CALL":
            count = instruction.arg or 0
            below = operand_at(stack, count + 1), operand_at(stack, count + 2)
            function = next((place for place in below if place is not UNKNOWN), UNKNOWN)
            first = operand_at(stack, count) if count else PLAIN
            places = (function, first, operand_at(stack, count - 1))
            method = str(function.value) if function.kind == "method" else ""
            yield instruction.offset, CallSite(method, *(reader(place, code) for place in places))


class _Readers(NamedTuple):
    """Finds the operands of one opcode."""

    code: CodeType
    stack: tuple[Operand, ...]

    def at(self, depth: int) -> Reader:
        return reader(operand_at(self.stack, depth), self.code)


def _toucher(instruction: dis.Instruction, operand: _Readers) -> Toucher:
    opcode, write = instruction.opname, instruction.opname.startswith(("STORE_", "DELETE_"))
    name = str(instruction.argval)
    if opcode in _ATTRIBUTES:
        return _attribute(name, operand.at(1), write=write)
    if opcode.endswith(_VARIABLES) and opcode != "IMPORT_NAME":
        return _always(Touch(name, write))
    if opcode in _CONTAINERS:
        place, key = _CONTAINERS[opcode]
        read_key = operand.at(key) if isinstance(key, int) else constant(key)
        return _item(operand.at(place), read_key, write=write)
    if opcode.startswith(_BRANCHES):
        return _item(operand.at(1), constant(SOME), write=False)
    if opcode in ("COMPARE_OP", "BINARY_OP"):
        return _operator(instruction, operand.at(2), operand.at(1))
    return _always(EVERYTHING if opcode == "IMPORT_NAME" else Touch(ITEMS, write=True))


def _always(touch: Touch) -> Toucher:
    return lambda _frame: touch


def _attribute(name: str, owner: Reader, *, write: bool) -> Toucher:
    return lambda frame: Touch(name, write, identity(owner(frame)))


def _item(container: Reader, key: Reader, *, write: bool) -> Toucher:
    return lambda frame: item_touch(container(frame), key(frame), write=write)


def _operator(instruction: dis.Instruction, left: Reader, right: Reader) -> Toucher:
    # With a number or a text on one side, these take no container on the other. `*` and `%` do.
    harmless = instruction.opname == "COMPARE_OP" or instruction.argrepr in ("+", "+=", "-", "-=")
    write = instruction.argrepr.endswith("=") and instruction.opname == "BINARY_OP"

    def touch(frame: FrameType) -> Touch:
        atoms = [type(side) in ATOMS for side in (left(frame), right(frame))]
        if all(atoms) or (harmless and any(atoms)):
            return NOTHING
        return Touch(ITEMS, write, None, SOME)

    return touch
