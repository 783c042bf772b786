"""Work that adds up: done a second time, it leaves a second handler, thread or wrapper behind."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from plugin_utils.checker.syntax import dotted, last_name
from plugin_utils.checker.words import words_of

__all__ = ("adds_up", "kept_in", "may_add_up")

# Each call adds one more.
_ADDS = frozenset({"addHandler", "add_span_processor", "instrument", "wrap_function_wrapper"})
# Some refuse a second call or add one more, others take the same entry twice and keep one.
_MAY_ADD = frozenset("init initialise initialize install register".split())


def adds_up(node: ast.AST, kept: Mapping[str, str] = MappingProxyType({})) -> bool:
    """Tell whether each run of `node` adds one more.

    What locals hold, as `kept_in` tells, counts as what they were taken from.
    """
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="start"), args=[])):
            return True
        case ast.Expr(
            value=ast.Call(
                func=ast.Name(id="setattr"),
                args=[owner, ast.Constant(value=str(name)), ast.Call(args=args)],
            )
        ):
            return f"{dotted(owner)}.{name}" in _sources(args, kept)
        case ast.Expr(value=ast.Call(func=func)):
            return last_name(func) in _ADDS
        case ast.Assign(targets=[ast.Attribute() as target], value=ast.Call(args=args)):
            return dotted(target) != "" and dotted(target) in _sources(args, kept)
        case _:
            return False


def kept_in(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """Return which locals keep an attribute to call it later: `send = Session.send`."""
    kept: dict[str, str] = {}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute() as value):
                kept[name] = dotted(value)
            case _:
                pass
    return kept


def _sources(args: Iterable[ast.expr], kept: Mapping[str, str]) -> set[str]:
    return {kept.get(name, name) for name in map(dotted, args)}


def may_add_up(node: ast.AST) -> bool:
    """Tell whether `node` enters something, or sets something up, for its effect alone."""
    match node:
        case ast.Expr(value=ast.Call(func=func)):
            return not _MAY_ADD.isdisjoint(words_of(last_name(func))[:1])
        case _:
            return False
