"""Small questions about syntax: what a name spells, which blocks a statement holds."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

__all__ = (
    "LOCK_TYPES",
    "alternatives",
    "blocks_of",
    "calls_at_import",
    "dotted",
    "ends_line",
    "flat",
    "last_line",
    "last_name",
    "makes_lock",
    "makes_own_lock",
    "nodes_in",
    "wholes",
)

LOCK_TYPES = frozenset(
    {"Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore", "allocate_lock"}
)
_COUNTING = frozenset({"Semaphore", "BoundedSemaphore"})
_BLOCKS = ("body", "orelse", "finalbody")
_KINDS: tuple[type[ast.AST], ...] = (
    *(ast.stmt, ast.expr, ast.pattern, ast.excepthandler, ast.alias, ast.comprehension),
    *(ast.keyword, ast.match_case, ast.withitem),
)
# Fields that hold no node that anyone asks for.
_PLAIN = frozenset("attr conversion ctx id kind level n op ops s simple type_comment".split())
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


def ends_line(node: ast.stmt, block: list[ast.stmt]) -> bool:
    """Tell whether a new line can follow `node`: no other statement of `block` goes on there."""
    last = last_line(node)
    return not any(other.lineno <= last < last_line(other) for other in block)


def last_name(node: ast.expr) -> str:
    """Return the last identifier of what is named or called: `c` for `a.b.c` and for `f().c`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def last_line(node: ast.stmt | ast.expr) -> int:
    """Return the line on which `node` ends."""
    return node.end_lineno or node.lineno


def alternatives(value: ast.expr) -> list[ast.expr]:
    """Return what `a or b` and `a if c else b` can each give, and what is in `a, b`."""
    match value:
        case ast.BoolOp(values=values) | ast.Tuple(elts=values):
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


def makes_own_lock(value: ast.AST | None) -> bool:
    """Tell whether `value` makes a lock that nobody else has.

    One that is passed a file, a key or another lock is the same for all who pass that.
    """
    match value:
        case ast.Call(func=func, args=[_, *_]) if last_name(func) not in _COUNTING:
            return False
        case _:
            return makes_lock(value)


def calls_at_import(block: list[ast.stmt]) -> Iterator[ast.Call]:
    """Yield the calls of module level, of class bodies, of decorators and of defaults."""
    for statement in block:
        roots: list[ast.AST]
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                args = statement.args
                defaults = [*args.defaults, *args.kw_defaults]
                roots = [*statement.decorator_list, *(d for d in defaults if d is not None)]
            case ast.ClassDef():
                yield from calls_at_import(statement.body)
                roots = [*statement.decorator_list, *statement.bases]
            case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
                continue
            case _:
                roots = [statement]
        yield from (node for node in nodes_in(roots) if isinstance(node, ast.Call))


def wholes(node: ast.expr) -> Iterator[ast.expr]:
    """Yield `node` and what it is an item of: `table["a"]` and `table`."""
    yield node
    while isinstance(node, ast.Subscript):
        node = node.value
        yield node


def nodes_in(roots: Sequence[ast.AST]) -> tuple[ast.AST, ...]:
    """Return `roots` and what is in them, in no order, except the insides of functions.

    Does what `ast.walk` does in a third of the time: this is the hottest loop of the checker.
    """
    found: list[object] = []
    stack: list[object] = list(roots)
    while stack:
        node = stack.pop()
        fields = _FIELDS.get(type(node))
        if fields is None:
            continue
        found.append(node)
        for name in fields:
            value: Any = getattr(node, name)
            if type(value) is list:
                stack += value
            elif value is not None:
                stack.append(value)
    return cast("tuple[ast.AST, ...]", tuple(found))


def _kinds_of(base: type[ast.AST]) -> Iterator[type[ast.AST]]:
    yield base
    for kind in base.__subclasses__():
        yield from _kinds_of(kind)


_FIELDS: dict[type, tuple[str, ...]] = {
    kind: () if issubclass(kind, _SCOPES) else tuple(n for n in kind._fields if n not in _PLAIN)
    for base in _KINDS
    for kind in _kinds_of(base)
}
"""Where each kind of node holds others; in what is not a kind of node there is nothing to find."""
