"""What an expression makes, following locals, functions and classes.

Where that leads to another module, the name decides.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from plugin_utils.checker.definitions import Class, Function
from plugin_utils.checker.instances import changes, is_known_outside, is_one_with_state, parts_of
from plugin_utils.checker.makers import Makes, class_method, is_unique, kind_of, known, named
from plugin_utils.checker.module import Module
from plugin_utils.checker.neighbours import class_named
from plugin_utils.checker.promises import promises_value
from plugin_utils.checker.slots import is_unset
from plugin_utils.checker.syntax import dotted, last_name
from plugin_utils.checker.words import (
    holds_resource,
    is_class_name,
    is_resource,
    is_value,
    looks_like_lock,
)

__all__ = (
    "holds_something",
    "instance_of",
    "is_extended",
    "is_part_of_unique",
    "makes",
    "makes_for",
    "opens",
    "returned_by",
    "values_of",
)

_DEPTH = 3
_PLAIN_BASES = frozenset(
    {"BaseModel", "TypedDict", "NamedTuple", "Enum", "IntEnum", "StrEnum", "Exception", "dict"}
)
_BARE_BASES = frozenset({"ABC", "Generic", "Protocol", "object"})
_CLOSERS = frozenset("__aexit__ __del__ __exit__ aclose close disconnect shutdown stop".split())


def makes_for(name: str, value: ast.expr, function: Function, module: Module) -> Makes:
    """Return what `value` makes for the slot `name`, whose name counts if the value's does not."""
    made = makes(value, function, module)
    if _is_called_lock(name) and isinstance(value, ast.Call) and made >= Makes.VALUE:
        return Makes.LOCK
    if made is not Makes.UNKNOWN:
        return made
    return Makes.RESOURCE if holds_resource(name) else Makes.VALUE


def _is_called_lock(name: str) -> bool:
    """Tell whether a slot is called like one lock; the file locks in `_LOCKS` exclude nobody."""
    return looks_like_lock(name) and not name.lower().endswith("s")


def opens(value: ast.expr, function: Function) -> bool:
    """Tell whether `value` is, by the name of what makes it, more than memory: a client, a pool."""
    values = values_of(value.id, function) if isinstance(value, ast.Name) else [value]
    return any(isinstance(made, ast.Call) and is_resource(last_name(made.func)) for made in values)


def makes(value: ast.expr, function: Function, module: Module, depth: int = _DEPTH) -> Makes:
    """Return what `value` makes, following locals and functions of the module."""
    if is_unset(value, module):
        return Makes.NOTHING
    if is_unique(value):
        return Makes.RESOURCE
    match value:
        case ast.Constant():
            return Makes.FLAG
        case ast.Await(value=inner) | ast.NamedExpr(value=inner):
            return makes(inner, function, module, depth)
        case ast.IfExp(body=body, orelse=orelse):
            return _most([body, orelse], function, module, depth)
        case ast.BoolOp(values=values):
            return _most(values[-1:], function, module, depth)
        case ast.Tuple(elts=values):
            return _most(values, function, module, depth)
        case ast.Name(id=name):
            return _local(name, function, module, depth)
        case ast.Call(func=ast.Name(id="cast") | ast.Attribute(attr="cast"), args=[_, inner]):
            return makes(inner, function, module, depth)
        case ast.Call():
            return _call(value, function, module, depth)
        case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner == function.receiver:
            kept = list(_values_kept(name, function)) if depth else []
            return _most(kept, function, module, depth - 1)
        case _:
            return Makes.VALUE


def _most(values: list[ast.expr], function: Function, module: Module, depth: int) -> Makes:
    return max((makes(value, function, module, depth) for value in values), default=Makes.VALUE)


def _local(name: str, function: Function, module: Module, depth: int) -> Makes:
    if name == function.receiver:
        return _made_by(function.owner, module, depth)
    if name in function.imports:
        return Makes.FLAG
    if name in function.tables:
        return Makes.RESOURCE
    if depth == 0 or name not in function.bound:
        return Makes.VALUE
    unpacked = Makes.NOTHING
    if name in function.unpacked:
        unpacked = Makes.RESOURCE if is_part_of_unique(name, function) else named(name)
    return max(_most(list(values_of(name, function)), function, module, depth - 1), unpacked)


def is_part_of_unique(name: str, function: Function) -> bool:
    """Tell whether the local `name` is a part of something unique: `fd, name = mkstemp()`."""
    pairs = ((n.targets[0], n.value) for n in function.own_nodes if isinstance(n, ast.Assign))
    return any(
        isinstance(target, ast.Tuple) and name in map(last_name, target.elts) and is_unique(value)
        for target, value in pairs
    )


def values_of(name: str, function: Function) -> Iterator[ast.expr]:
    """Yield what the function assigns to its local `name`."""
    for node in function.own_nodes:
        match node:
            case ast.Assign(targets=targets, value=value):
                if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                    yield value
            case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value):
                if target == name:
                    yield value
            case ast.withitem(context_expr=value, optional_vars=ast.Name(id=target)):
                if target == name:
                    yield value
            case _:
                pass


def _values_kept(name: str, function: Function) -> Iterator[ast.expr]:
    """Yield what the method assigns to the attribute `name` of its receiver."""
    for node in function.own_nodes:
        match node:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=owner), attr=attr)]):
                if (owner, attr) == (function.receiver, name):
                    yield node.value
            case _:
                pass


def _call(call: ast.Call, function: Function, module: Module, depth: int) -> Makes:
    name = last_name(call.func)
    made = known(call.func, module)
    if made is not None:
        return made
    match call.func:
        case ast.Name(id="cls") | ast.Attribute(attr="__new__"):
            return _made_by(function.owner, module, depth)
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__call__"):
            return Makes.RESOURCE
        case ast.Attribute(value=ast.Constant()):
            return Makes.VALUE
        case ast.Name(id=called) if called in module.classes:
            return instance_of(module.classes[called], module, depth)
        case ast.Name(id=called) if called in function.bound and (kind := kind_of(called)):
            return named("_".join(kind))
        case ast.Name(id=called) if called in module.functions:
            return returned_by(module.functions[called], module, depth)
        case ast.Attribute(value=ast.Name(id=owner), attr=called) if owner == function.receiver:
            method = function.owner and function.owner.methods.get(called)
            return returned_by(method, module, depth) if method else named(name)
        case ast.Attribute(value=owner) if is_class_name(last_name(owner)):
            return class_method(last_name(owner), name)
        case ast.Attribute(value=ast.Call() as inner) if name not in {"build", "connect", "open"}:
            return min(named(name, Makes.VALUE), makes(inner, function, module, depth))
        case _:
            return named(name)


def instance_of(
    found: Class,
    module: Module,
    depth: int = _DEPTH,
    *,
    look_further: bool = False,
    by_name: bool = True,
) -> Makes:
    """Return what an instance of `found` is, which is a class of `module`.

    What it inherits from other modules counts as unknown, unless the caller may `look_further`.
    That it is called like a resource makes it one, unless the caller asks what it does instead.
    """
    bases = {dotted(b.value if isinstance(b, ast.Subscript) else b) for b in found.node.bases}
    names = {base.rpartition(".")[2] for base in bases}
    if holds_something(found, module, depth) or is_one_with_state(found):
        return Makes.RESOURCE
    if "dataclass" in found.decorators or names & _PLAIN_BASES or is_value(found.name):
        return Makes.VALUE
    if (by_name and is_resource(found.name)) or changes(found) or is_known_outside(found):
        return Makes.RESOURCE
    inherited = (_inherited(base, module, depth, look_further=look_further) for base in bases)
    return max(inherited, default=Makes.VALUE)


def _inherited(name: str, module: Module, depth: int, *, look_further: bool) -> Makes:
    if name.rpartition(".")[2] in _BARE_BASES:
        return Makes.VALUE
    base = class_named(name, module, steps=_DEPTH if look_further else 0)
    if base is None or depth == 0:
        return Makes.RESOURCE  # who knows what it brings
    return instance_of(*base, depth - 1, look_further=look_further)


def holds_something(found: Class, module: Module, depth: int) -> bool:
    """Tell whether an instance opens or holds what has an identity, or has to be closed."""
    if found.has_lock or not _CLOSERS.isdisjoint(found.methods):
        return True
    return depth > 0 and any(
        makes(value, init, module, depth - 1) >= Makes.RESOURCE for value, init in parts_of(found)
    )


def _made_by(owner: Class | None, module: Module, depth: int) -> Makes:
    """Return what `cls()` makes in a method of `owner`, where `cls` may be a class below it."""
    if owner is None:
        return Makes.RESOURCE
    return max(instance_of(one, module, depth) for one in [owner, *_below(owner, module)])


def is_extended(found: Class, module: Module) -> bool:
    """Tell whether another class of the module inherits from `found`."""
    return bool(_below(found, module))


def _below(found: Class, module: Module) -> list[Class]:
    others = module.classes.values()
    return [one for one in others if found.name in map(last_name, one.node.bases)]


def returned_by(found: Function, module: Module, depth: int = _DEPTH) -> Makes:
    """Return what a function of this module gives back; its name decides if that does not tell."""
    if promises_value(found):
        return Makes.VALUE
    by_name = named(found.name)
    if depth == 0:
        return by_name
    returned = [n.value for n in found.own_nodes if isinstance(n, ast.Return) and n.value]
    if all(map(_is_left_open, found.node.body)):
        return by_name
    made = _most(returned, found, module, depth - 1)
    return by_name if made is Makes.UNKNOWN else made


def _is_left_open(statement: ast.stmt) -> bool:
    """Tell whether `statement` leaves the work of a method to another class."""
    match statement:
        case ast.Pass() | ast.Raise() | ast.Expr(value=ast.Constant()):
            return True
        case _:
            return False
