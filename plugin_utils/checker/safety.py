"""What the source shows about a build: whether it can give `None`, or call its accessor again."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from plugin_utils.checker.definitions import Function
from plugin_utils.checker.module import Module
from plugin_utils.checker.syntax import last_name
from plugin_utils.checker.words import is_class_name

__all__ = ("allows_none", "builds_surely", "can_be_none", "comes_back", "names_reached")

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
        case ast.Call(func=ast.Name(id=name)) if name in module.bindings or (
            name in function.locals - function.imports
        ):
            return True  # a lambda, a nested function, whatever is in that variable
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if (
            name in module.classes and attr in module.classes[name].methods and depth
        ):
            return _may_return_none(module.classes[name].methods[attr], module, depth - 1)
        case ast.Call(func=func):
            return last_name(func) in _MAYBE
        case _:
            return False


def _may_return_none(function: Function, module: Module, depth: int) -> bool:
    returns = [node.value for node in function.own_nodes if isinstance(node, ast.Return)]
    return (
        _falls_off(function.node.body)
        or not returns
        or allows_none(function.node.returns)
        or any(v is None or can_be_none(v, function, module, depth) for v in returns)
    )


def _falls_off(block: Sequence[ast.stmt]) -> bool:
    """Tell whether control can come to the end of `block`. In doubt it can."""
    match block[-1] if block else None:
        case ast.Return() | ast.Raise():
            return False
        case ast.If(body=body, orelse=orelse):
            return _falls_off(body) or _falls_off(orelse)
        case ast.With(items=items, body=body):
            return _falls_off(body) or any(_suppresses(item.context_expr) for item in items)
        case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=finalbody):
            ends = [[*body, *orelse], *(handler.body for handler in handlers)]
            return _falls_off(finalbody) and any(map(_falls_off, ends))
        case ast.Match(cases=cases):
            return not _takes_all(cases[-1]) or any(_falls_off(case.body) for case in cases)
        case _:
            return True


def _takes_all(case: ast.match_case) -> bool:
    match case:
        case ast.match_case(pattern=ast.MatchAs(pattern=None), guard=None):
            return True
        case _:
            return False


def _suppresses(context: ast.expr) -> bool:
    """Tell whether a context says by its name that it goes on after an error."""
    return isinstance(context, ast.Call) and "suppress" in last_name(context.func)


def _kept_in(name: str, function: Function) -> list[ast.expr]:
    """Return what the function assigns to its local `name`."""
    found: list[ast.expr] = []
    for node in function.own_nodes:
        match node:
            case ast.Assign(targets=targets, value=value):
                pass
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                targets = [target]
            case _:
                continue
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            found.append(value)
    return found


def allows_none(annotation: ast.expr | None) -> bool:
    """Tell whether a return annotation says that `None` may come."""
    if annotation is None:
        return False
    text = ast.unparse(annotation)
    return "None" in text or "Optional" in text


def comes_back(accessor: Function, module: Module) -> bool:
    """Tell whether the build can call the accessor again, by way of this module's functions."""
    return accessor.name in names_reached(accessor.node.body, module)


def names_reached(roots: Sequence[ast.AST], module: Module) -> set[str]:
    """Return the names in `roots`, and in what this module defines by those names, and so on."""
    seen: set[str] = set()
    todo: list[ast.AST] = [*roots]
    while todo:
        for node in ast.walk(todo.pop()):
            name = last_name(node) if isinstance(node, ast.expr) else ""
            if name and name not in seen:
                seen.add(name)
                todo += _definitions(name, module)
    return seen


def _definitions(name: str, module: Module) -> list[ast.AST]:
    methods = [
        m.node
        for found in module.classes.values()
        for m in found.methods.values()
        if m.name == name
    ]
    places = [found[name].node for found in (module.functions, module.classes) if name in found]
    bound = module.bindings.get(name)
    return [*places, *methods, *([bound] if bound is not None else [])]


def builds_surely(value: ast.expr) -> bool:
    """Tell whether `value` is an object for certain: an instance of a class that is called here."""
    return isinstance(value, ast.Call) and is_class_name(last_name(value.func))
