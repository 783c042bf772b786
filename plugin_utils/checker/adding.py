"""Work that adds up: done a second time, it leaves a second handler, thread or wrapper behind."""

from __future__ import annotations

import ast

from plugin_utils.checker.syntax import dotted, last_name
from plugin_utils.checker.words import words_of

__all__ = ("adds_up", "may_add_up")

# Each call adds one more.
_ADDS = frozenset({"addHandler", "add_span_processor", "instrument", "wrap_function_wrapper"})
# Some refuse a second call or add one more, others take the same entry twice and keep one.
_MAY_ADD = frozenset("init initialise initialize install register".split())


def adds_up(node: ast.AST) -> bool:
    """Tell whether each run of `node` adds one more."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="start"), args=[])):
            return True
        case ast.Expr(
            value=ast.Call(
                func=ast.Name(id="setattr"),
                args=[owner, ast.Constant(value=str(name)), ast.Call(args=args)],
            )
        ):
            return f"{dotted(owner)}.{name}" in map(dotted, args)
        case ast.Expr(value=ast.Call(func=func)):
            return last_name(func) in _ADDS
        case ast.Assign(targets=[ast.Attribute() as target], value=ast.Call(args=args)):
            return dotted(target) != "" and dotted(target) in map(dotted, args)
        case _:
            return False


def may_add_up(node: ast.AST) -> bool:
    """Tell whether `node` enters something, or sets something up, for its effect alone."""
    match node:
        case ast.Expr(value=ast.Call(func=func)):
            return words_of(last_name(func))[:1] != [] and words_of(last_name(func))[0] in _MAY_ADD
        case _:
            return False
