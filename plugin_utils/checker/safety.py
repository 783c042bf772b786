"""What the source shows about a build: whether it can give `None`, or call its accessor again."""

from __future__ import annotations

import ast

from plugin_utils.checker.definitions import Function
from plugin_utils.checker.module import Module
from plugin_utils.checker.syntax import last_name
from plugin_utils.checker.words import is_class_name

__all__ = ("allows_none", "builds_surely", "can_be_none", "comes_back")

_DEPTH = 3
# They say in their contract that they may give nothing.
_MAYBE = frozenset({"get", "getenv", "which"})


def can_be_none(value: ast.expr, function: Function, module: Module, depth: int = _DEPTH) -> bool:
    """Tell whether the source shows that `value` can be `None`."""
    match value:
        case ast.Constant(value=None):
            return True
        case ast.IfExp(body=body, orelse=orelse):
            return any(can_be_none(v, function, module, depth) for v in (body, orelse))
        case ast.BoolOp(values=values):
            return can_be_none(values[-1], function, module, depth)
        case ast.Name(id=name) if depth:
            kept = list(_kept_in(name, function))
            return any(can_be_none(v, function, module, depth - 1) for v in kept)
        case ast.Call(func=ast.Name(id=name)) if name in module.functions and depth:
            return _may_return_none(module.functions[name], module, depth - 1)
        case ast.Call(func=func):
            return last_name(func) in _MAYBE
        case _:
            return False


def _may_return_none(function: Function, module: Module, depth: int) -> bool:
    returns = [node.value for node in function.own_nodes if isinstance(node, ast.Return)]
    falls_off = not isinstance(
        function.node.body[-1], ast.Return | ast.Raise | ast.Try | ast.With | ast.If
    )
    return (
        falls_off
        or not returns
        or allows_none(function.node.returns)
        or any(v is None or can_be_none(v, function, module, depth) for v in returns)
    )


def _kept_in(name: str, function: Function) -> list[ast.expr]:
    """Return what the function assigns to its local `name`."""
    return [
        node.value
        for node in function.own_nodes
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    ]


def allows_none(annotation: ast.expr | None) -> bool:
    """Tell whether a return annotation says that `None` may come."""
    if annotation is None:
        return False
    text = ast.unparse(annotation)
    return "None" in text or "Optional" in text


def comes_back(accessor: Function, module: Module) -> bool:
    """Tell whether the build can call the accessor again, by way of this module's functions."""
    seen: set[str] = set()
    todo: list[ast.AST] = [*accessor.node.body]
    while todo:
        for node in ast.walk(todo.pop()):
            name = last_name(node) if isinstance(node, ast.expr) else ""
            if name == accessor.name:
                return True
            if name and name not in seen:
                seen.add(name)
                todo += _definitions(name, module)
    return False


def _definitions(name: str, module: Module) -> list[ast.AST]:
    methods = [
        m.node
        for found in module.classes.values()
        for m in found.methods.values()
        if m.name == name
    ]
    places = [found[name].node for found in (module.functions, module.classes) if name in found]
    return [*places, *methods]


def builds_surely(value: ast.expr) -> bool:
    """Tell whether `value` is an object for certain: an instance of a class that is called here."""
    return isinstance(value, ast.Call) and is_class_name(last_name(value.func))
