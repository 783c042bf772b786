"""The opcodes before which another thread may get its turn.

Only an opcode that can touch something shared is a point. All others commute with whatever the
other threads do: leaving them out loses no outcome. An opcode that is not listed here counts as
one that touches every container, so a new Python version costs schedules before it costs truth.
"""

from __future__ import annotations

import dis
import sys
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Final, NamedTuple
from weakref import CallableProxyType, ProxyType

from plugin_utils.testing.interleaving._operands import (
    PLAIN,
    Operand,
    operand_at,
    operands,
)
from plugin_utils.testing.interleaving._readers import MISSING, Reader, constant, reader
from plugin_utils.testing.interleaving._results import ATOMS
from plugin_utils.testing.interleaving._touch import (
    ALONE,
    EVERYTHING,
    ITEMS,
    NAMES,
    NOTHING,
    SOME,
    WHOLE,
    Touch,
)

__all__ = (
    "CallSite",
    "Table",
    "Toucher",
    "attribute_touch",
    "identity",
    "item_touch",
    "may_add",
    "table",
)

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
_VARIABLES: Final = (
    *("_GLOBAL", "_GLOBALS", "_NAME", "_DEREF", "LOAD_CLASSDEREF", "LOAD_SUPER_ATTR"),
)
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

# Whose attributes are, or can be, those of something else: a class is seen through its instances.
_SHARED_OWNERS: Final = (type, super, MethodType, ProxyType, CallableProxyType)
# An assignment to these changes what all other names of the object stand for.
_ALL_NAMES: Final = ("__class__", "__dict__")
# Hold their items themselves. What else is written in C can show those of something else, as a view
# or an iterator does.
_HOLDERS: Final = (dict, list, set, bytearray, deque)
_LOOKS: Final = frozenset(
    {"__bool__", "__contains__", "__getitem__", "__iter__", "__len__", "__next__"}
)
_FIXED: Final = ATOMS | {tuple, frozenset, range, slice}


# Tells what an opcode will touch, given the frame that is about to run it.
Toucher = Callable[[FrameType], Touch]


class CallSite(NamedTuple):
    """The operands of a call: a point only if what is called turns out to be written in C.

    A Python function has points of its own.

    Args:
        opcode: The name of the opcode.
        argument: That of the opcode.
        first: Finds the first argument.
        second: Finds the second argument.
    """

    opcode: str = "CALL"
    argument: int = 0
    first: Reader = constant(MISSING)
    second: Reader = constant(MISSING)


class Table(NamedTuple):
    """The points and the calls of one code object, and where they end, by their opcode's offset."""

    points: Mapping[int, Toucher]
    calls: Mapping[int, CallSite]
    ends: Mapping[int, int]


# By identity: code objects of different files can be equal. The code is kept, so the key stays his.
_tables: dict[int, tuple[CodeType, Table]] = {}


def table(code: CodeType) -> Table:
    """Return the points and calls of a code object."""
    try:
        return _tables[id(code)][1]
    except KeyError:
        made = Table(dict(_points(code)), dict(_calls(code)), dict(_ends(code)))
        _tables[id(code)] = (code, made)
        return made


def identity(value: object) -> int | None:
    """Return what tells apart the attributes of an object, or None for "could be any".

    An instance can see its class's attributes, and instances can share one `__dict__`. An attribute
    is an item of that dict, and a module's globals are items of its dict.
    """
    if value is MISSING or isinstance(value, _SHARED_OWNERS):
        return None
    if type(value).__dictoffset__:
        return id(object.__getattribute__(value, "__dict__"))
    return id(value)


def item_touch(container: object, key: object, *, write: bool) -> Touch:
    """Return the touch of one key of a container, or of all of it (`WHOLE`)."""
    kind = type(container)
    if kind in _FIXED:
        return NOTHING
    # The first and the last item of a list can be one; keys that look different can be equal.
    known = type(key) in ATOMS and kind in (dict, set)
    if container is MISSING or _shows_others(kind):
        return Touch(NAMES, write, None, WHOLE if key is WHOLE else SOME)
    if known and isinstance(key, str):
        return Touch(key, write, id(container), key)
    key = key if known or key is WHOLE else SOME
    # Any dict can be a namespace; what other containers hold has no name.
    name = NAMES if issubclass(kind, dict) and not known else ITEMS
    return Touch(name, write, id(container), key)


def _unknown_touch(key: object, *, write: bool) -> Touch:
    """Return the touch of `container[key]`, where nothing is known of the container.

    A list takes no text as a key; a `__dict__` takes nothing else.
    """
    if type(key) is str:
        return Touch(key, write, None, key)
    return Touch(ITEMS if type(key) in ATOMS else NAMES, write, None, SOME)


def attribute_touch(owner: object, name: str, *, write: bool) -> Touch:
    """Return the touch of an attribute."""
    if write and name in _ALL_NAMES:
        return Touch(NAMES, write=True)
    return Touch(name, write, identity(owner))


def may_add(container: object) -> bool:
    """Return whether looking for a key can put it into the container."""
    return isinstance(container, defaultdict)


def _shows_others(kind: type) -> bool:
    if issubclass(kind, _HOLDERS):
        return False
    looks = [vars(base)[name] for base in kind.__mro__ for name in _LOOKS & vars(base).keys()]
    return not all(isinstance(look, FunctionType) for look in looks)  # those have their own points


def _points(code: CodeType) -> Iterator[tuple[int, Toucher]]:
    for instruction, stack in operands(code):
        if not instruction.opname.startswith(_PRIVATE):
            yield instruction.offset, _toucher(instruction, _Readers(code, stack))


def _calls(code: CodeType) -> Iterator[tuple[int, CallSite]]:
    for instruction, stack in operands(code):
        if instruction.opname == "CALL_FUNCTION_EX":
            yield instruction.offset, CallSite(instruction.opname, instruction.arg or 0)
        if instruction.opname == "CALL":
            count = instruction.arg or 0
            first = operand_at(stack, count) if count else PLAIN
            places = (first, operand_at(stack, count - 1))
            readers = (reader(place, code) for place in places)
            yield instruction.offset, CallSite(instruction.opname, count, *readers)


def _ends(code: CodeType) -> Iterator[tuple[int, int]]:
    # While a call goes on, its frame can stand at the opcode or in the cache behind it.
    offsets = [instruction.offset for instruction in dis.get_instructions(code)]
    yield from pairwise([*offsets, len(code.co_code)])


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
        return _variable(opcode, name, write=write)
    if opcode in _CONTAINERS:
        place, key = _CONTAINERS[opcode]
        read_key = operand.at(key) if isinstance(key, int) else constant(key)
        return _item(operand.at(place), read_key, opcode, write=write)
    if opcode.startswith(_BRANCHES):
        return _item(operand.at(1), constant(SOME), opcode, write=False)
    if opcode in ("COMPARE_OP", "BINARY_OP"):
        return _operator(instruction, operand.at(2), operand.at(1))
    return _always(EVERYTHING if opcode == "IMPORT_NAME" else Touch(NAMES, write=True))


def _always(touch: Touch) -> Toucher:
    return lambda _frame: touch


def _attribute(name: str, owner: Reader, *, write: bool) -> Toucher:
    return lambda frame: attribute_touch(owner(frame), name, write=write)


def _variable(opcode: str, name: str, *, write: bool) -> Toucher:
    if opcode.endswith("_DEREF") and opcode.startswith(("LOAD_DEREF", "STORE_", "DELETE_")):
        return _always(Touch(name, write, key=ALONE))
    if not opcode.endswith("_GLOBAL"):
        return _always(Touch(name, write))  # in a class's body, for example

    def touch(frame: FrameType) -> Touch:
        known = write or name in frame.f_globals  # or else it is a builtin, or not yet there
        return Touch(name, write, id(frame.f_globals) if known else None)

    return touch


def _item(container: Reader, key: Reader, opcode: str, *, write: bool) -> Toucher:
    by_key = opcode.endswith("_SUBSCR")

    def touch(frame: FrameType) -> Touch:
        holder = container(frame)
        if holder is MISSING and by_key:
            return _unknown_touch(key(frame), write=write)
        return item_touch(holder, key(frame), write=write or may_add(holder))

    return touch


def _operator(instruction: dis.Instruction, left: Reader, right: Reader) -> Toucher:
    # With a number or a text on one side, these take no container on the other. `*` does, and so
    # does `%` with a text on its left.
    sign = instruction.argrepr
    harmless = instruction.opname == "COMPARE_OP" or sign in ("+", "+=", "-", "-=")
    write = sign.endswith("=") and instruction.opname == "BINARY_OP"
    # These take no dict, and no view of one.
    name = ITEMS if sign.rstrip("=") in ("+", "*", "/", "//", "**", "<<", ">>", "@") else NAMES

    def touch(frame: FrameType) -> Touch:
        one = left(frame)
        atoms = [type(side) in ATOMS for side in (one, right(frame))]
        if all(atoms) or (harmless and any(atoms)) or (sign == "%" and type(one) in (int, float)):
            return NOTHING
        return Touch(name, write, None, SOME)

    return touch
