"""What a function says that it gives back: its return annotation, read as a reader would.

An annotation tells what a name hides: `-> type[Model]` is no model, and what an accessor declares
as `str` is no client, whatever the function that it calls is called.
"""

from __future__ import annotations

import ast

from plugin_utils.checker.definitions import Function
from plugin_utils.checker.makers import is_unique
from plugin_utils.checker.source import UNPARSABLE, parse
from plugin_utils.checker.syntax import last_name
from plugin_utils.checker.words import words_of

__all__ = ("promises_value",)

# The last word of a type of which two are as good as one: `RowType` is a type, too.
_VALUES = frozenset("bool bytes complex float int pattern str type".split())
# What is inside is what is given back.
_WRAPPERS = frozenset({"Annotated", "Awaitable", "Optional", "Union"})


def promises_value(function: Function) -> bool:
    """Tell whether the return annotation of `function` names something of which two are equal.

    Text that is drawn at random, such as the name of a temporary folder, is nothing of the kind.
    """
    returns = function.node.returns
    return (
        returns is not None
        and _names_value(returns)
        and not any(isinstance(n, ast.expr) and is_unique(n) for n in function.own_nodes)
    )


def _names_value(annotation: ast.expr) -> bool:
    match annotation:
        case ast.Constant(value=None):
            return True
        case ast.Constant(value=str(text)):
            return _text_names_value(text)
        case ast.BinOp(left=left, right=right):
            return _names_value(left) and _names_value(right)
        case ast.Subscript(value=value, slice=inner) if last_name(value) in _WRAPPERS:
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return all(map(_names_value, parts))
        case ast.Subscript(value=value) | value:
            return not _VALUES.isdisjoint(words_of(last_name(value))[-1:])


def _text_names_value(text: str) -> bool:
    try:
        body = parse(text.strip()).body
    except UNPARSABLE:
        return False
    return any(isinstance(node, ast.Expr) and _names_value(node.value) for node in body)
