"""Small questions about syntax: what a name spells, which blocks a statement holds."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

__all__ = (
    "LOCK_TYPES",
    "alternatives",
    "blocks_of",
    "dotted",
    "flat",
    "last_name",
    "makes_lock",
    "nodes_in",
)

LOCK_TYPES = frozenset(
    {"Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore", "allocate_lock"}
)
_BLOCKS = ("body", "orelse", "finalbody")
_CHILDREN = (ast.expr, ast.pattern)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def dotted(node: ast.expr) -> str:
    """Return `a.b.c` for a chain of attributes, and `""` for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def last_name(node: ast.expr) -> str:
    """Return the last identifier of what is named or called: `c` for `a.b.c` and for `f().c`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def alternatives(value: ast.expr) -> list[ast.expr]:
    """Return what `a or b` and `a if c else b` can each give."""
    match value:
        case ast.BoolOp(values=values):
            return values
        case ast.IfExp(body=body, orelse=orelse):
            return [body, orelse]
        case _:
            return [value]


def flat(targets: Iterable[ast.expr]) -> list[ast.expr]:
    """Return the targets of an assignment, with tuples taken apart."""
    flat: list[ast.expr] = []
    for target in targets:
        flat += target.elts if isinstance(target, ast.Tuple) else [target]
    return flat


def blocks_of(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of statements that a compound statement holds."""
    for name in _BLOCKS:
        block: list[ast.stmt] | None = getattr(statement, name, None)
        if block:
            yield block
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body


def makes_lock(value: ast.AST | None) -> bool:
    """Tell whether `value` is a call that makes a lock."""
    return isinstance(value, ast.Call) and last_name(value.func) in LOCK_TYPES


def nodes_in(roots: Sequence[ast.AST]) -> tuple[ast.AST, ...]:
    """Return `roots` and what is in them, in no order, except the insides of functions.

    Does what `ast.walk` does in half the time: this is the hottest loop of the checker.
    """
    found: list[ast.AST] = []
    stack = list(roots)
    while stack:
        node = stack.pop()
        found.append(node)
        if isinstance(node, _SCOPES):
            continue
        for name in node._fields:
            value: object = getattr(node, name, None)
            if isinstance(value, _CHILDREN):
                stack.append(value)
            elif isinstance(value, list):
                children = cast("list[object]", value)
                stack += [child for child in children if isinstance(child, ast.AST)]
    return tuple(found)
