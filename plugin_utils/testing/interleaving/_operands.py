"""Where the operands of an opcode come from, as far as the code alone tells.

CPython shows an observer the opcode that comes next, and not the objects it will work on. But most
operands were loaded by name just before: replaying the loads on a make-believe stack tells which
name, and the frame tells which object. Whatever is not understood makes the stack unknown.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Final, NamedTuple

__all__ = ("PLAIN", "UNKNOWN", "Operand", "operand_at", "operands")


class Operand(NamedTuple):
    """One place of the make-believe stack.

    Args:
        kind: "local", "free", "global", "attribute", "item", "builtin" and "constant" can be looked
            up; "method" is known by its name only; "result" is what a function returned; "plain" is
            a number or a truth value; "unknown" can be anything.
        value: The name, or the constant.
        owner: What an attribute or an item was loaded from; the function of a result.
        key: The key of an item.
    """

    kind: str
    value: object = None
    owner: Operand | None = None
    key: Operand | None = None


UNKNOWN: Final = Operand("unknown")
PLAIN: Final = Operand("plain")

# Opcodes that only take operands and put results: how many of each, and which.
_EFFECTS: Final = {
    "CHECK_EXC_MATCH": (1, (PLAIN,)),
    "WITH_EXCEPT_START": (0, (PLAIN,)),
    "COMPARE_OP": (2, (PLAIN,)),
    "CONTAINS_OP": (2, (PLAIN,)),
    "IS_OP": (2, (PLAIN,)),
    "TO_BOOL": (1, (PLAIN,)),
    "UNARY_NOT": (1, (PLAIN,)),
    "POP_TOP": (1, ()),
    "STORE_ATTR": (2, ()),
    "STORE_SUBSCR": (3, ()),
    "STORE_GLOBAL": (1, ()),
    "STORE_DEREF": (1, ()),
    "DELETE_ATTR": (1, ()),
    "DELETE_SUBSCR": (2, ()),
    "POP_JUMP_IF_FALSE": (1, ()),
    "POP_JUMP_IF_TRUE": (1, ()),
    "POP_JUMP_IF_NONE": (1, ()),
    "POP_JUMP_IF_NOT_NONE": (1, ()),
}
# Loaded from a place that other threads can reach.
_LOADED: Final = ("global", "free", "attribute", "item")
# Opcodes that leave the stack alone.
_NO_EFFECT: Final = ("NOP", "PRECALL", "RESUME", "EXTENDED_ARG", "KW_NAMES")
# Builtins whose result is a plain truth value. Nobody gives these names another meaning.
_TELLERS: Final = frozenset({"callable", "hasattr", "isinstance", "issubclass"})


def operands(code: CodeType) -> Iterator[tuple[dis.Instruction, tuple[Operand, ...]]]:
    """Yield each instruction with the operands on top of the stack before it, the top one last."""
    stack: list[Operand] = []
    for instruction in dis.get_instructions(code):
        if instruction.is_jump_target:
            stack.clear()  # which way was taken is not known
        yield instruction, tuple(stack)
        _apply(instruction, stack)


def operand_at(stack: Sequence[Operand], depth: int) -> Operand:
    """Return the operand at a depth, 1 being the top of the stack."""
    return stack[-depth] if 0 < depth <= len(stack) else UNKNOWN


def _apply(instruction: dis.Instruction, stack: list[Operand]) -> None:
    opcode = instruction.opname
    # 3.11 names the direction of a jump, later versions do not.
    opcode = opcode.replace("_JUMP_FORWARD_", "_JUMP_").replace("_JUMP_BACKWARD_", "_JUMP_")
    if opcode in _NO_EFFECT:
        pass
    elif opcode == "LOAD_CONST":
        stack.append(Operand("constant", instruction.argval))
    elif opcode == "PUSH_NULL":
        stack.append(UNKNOWN)
    elif opcode == "COPY":
        stack.append(operand_at(stack, instruction.arg or 0))
    elif opcode.startswith(("LOAD_FAST", "STORE_FAST")) and opcode != "LOAD_FAST_AND_CLEAR":
        _fast(opcode, instruction.argrepr.split(", "), stack)
    else:
        _apply_point(opcode, instruction, stack)


def _apply_point(opcode: str, instruction: dis.Instruction, stack: list[Operand]) -> None:
    """Apply an opcode before which another thread can have had its turn."""
    put: tuple[Operand, ...]
    if opcode in ("LOAD_ATTR", "LOAD_METHOD"):
        taken, put = 1, _load_attribute(instruction, operand_at(stack, 1))
    elif opcode == "LOAD_GLOBAL":
        taken, put = 0, _load_global(instruction)
    elif opcode == "LOAD_DEREF":
        taken, put = 0, (Operand("free", instruction.argval),)
    elif opcode == "BINARY_SUBSCR":
        taken, put = 2, (Operand("item", None, operand_at(stack, 2), operand_at(stack, 1)),)
    elif opcode == "CALL":
        taken, put = (instruction.arg or 0) + 2, (_result(instruction.arg or 0, stack),)
    elif opcode == "BINARY_OP":
        taken, put = 2, (_calculated(instruction, stack[-2:]),)
    else:
        taken, put = _EFFECTS.get(opcode, (len(stack), ()))
    del stack[len(stack) - min(taken, len(stack)) :]
    # That thread can have put something else where these were loaded from.
    stack[:] = [UNKNOWN if place.kind in _LOADED else place for place in stack]
    stack.extend(put)


def _load_attribute(instruction: dis.Instruction, owner: Operand) -> tuple[Operand, ...]:
    # A method is loaded as two things, by LOAD_METHOD in 3.11 and by a form of LOAD_ATTR later.
    if instruction.opname == "LOAD_METHOD" or "NULL" in instruction.argrepr:
        return (Operand("method", instruction.argval),) * 2
    return (Operand("attribute", instruction.argval, owner),)


def _load_global(instruction: dis.Instruction) -> tuple[Operand, ...]:
    name = instruction.argval
    loaded = Operand("builtin" if name in _TELLERS else "global", name)
    if "NULL" not in instruction.argrepr:
        return (loaded,)
    # The place for a method's `self` is below the function up to 3.12, above it since.
    return (loaded, UNKNOWN) if sys.version_info >= (3, 13) else (UNKNOWN, loaded)


def _result(arguments: int, stack: list[Operand]) -> Operand:
    # The function is below its arguments; directly up to 3.12, later with a place in between.
    function = operand_at(stack, arguments + 1), operand_at(stack, arguments + 2)
    if any(place.kind == "builtin" for place in function):
        return PLAIN
    return Operand("result", None, next((place for place in function if place != UNKNOWN), UNKNOWN))


def _calculated(instruction: dis.Instruction, sides: Sequence[Operand]) -> Operand:
    # With a number on one side, it is a number again, or something new.
    if instruction.argrepr.endswith("=") or not any(map(_is_number, sides)):
        return UNKNOWN
    return PLAIN if instruction.argrepr in ("+", "-", "//", "/") else UNKNOWN


def _is_number(side: Operand) -> bool:
    return side.kind == "constant" and isinstance(side.value, int | float)


def _fast(opcode: str, names: list[str], stack: list[Operand]) -> None:
    """Apply loads and stores of local variables: since 3.13 one opcode can do two."""
    actions = [part for part in opcode.split("_") if part in ("LOAD", "STORE")]
    for action, name in zip(actions, names, strict=False):
        local = Operand("local", name)
        if action == "LOAD":
            stack.append(local)
            continue
        del stack[-1:]
        # What was loaded before from this variable is no longer what the variable holds.
        stack[:] = [UNKNOWN if operand == local else operand for operand in stack]
