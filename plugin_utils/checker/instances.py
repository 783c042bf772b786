"""What an instance of a class is: a thing with a state of its own, or equal to any other.

Two clients are one too many. Two instances of a class that keeps nothing, or that never changes
what it was given, are as good as one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from plugin_utils.checker.definitions import Class, Function
from plugin_utils.checker.syntax import last_name

__all__ = ("changes", "is_known_outside", "is_one_with_state", "parts_of")

_FIRST = frozenset({"__init__", "__new__", "__post_init__", "__setstate__"})
# They change the container or the object that they are called on.
_CHANGERS = frozenset("""
    add append appendleft clear discard extend insert move_to_end pop popitem popleft put push
    remove setdefault update
    """.split())  # fmt: skip
_EMPTY = frozenset({"OrderedDict", "WeakKeyDictionary", "WeakSet", "WeakValueDictionary", "deque"})
_EMPTY_BUILTINS = frozenset({"defaultdict", "dict", "list", "set"})


def changes(found: Class) -> bool:
    """Tell whether a method changes the instance after it was made."""
    return any(
        _changes(node, method, found)
        for name, method in found.methods.items()
        if name not in _FIRST and method.receiver and not method.receives_class
        for node in method.own_nodes
    )


def _changes(node: ast.AST, method: Function, found: Class) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id=owner), ctx=ast.Store() | ast.Del()):
            return owner == method.receiver
        case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()):
            return _is_part(value, method, found)
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in _CHANGERS:
            return _is_part(value, method, found)
        case _:
            return False


def _is_part(value: ast.expr, method: Function, found: Class) -> bool:
    """Tell whether `value` is an attribute of the instance, and not one of its class."""
    match value:
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return owner == method.receiver and name not in found.shared_containers
        case ast.Attribute(value=inner) | ast.Subscript(value=inner):
            return _is_part(inner, method, found)
        case _:
            return False


def is_one_with_state(found: Class) -> bool:
    """Tell whether the class makes sure itself that there is one instance, which has a state.

    What it is called like does not count then: there was a reason for one.
    """
    if "__new__" not in found.methods or "type" in map(last_name, found.node.bases):
        return False
    return "__init__" in found.methods or changes(found) or is_known_outside(found)


def is_known_outside(found: Class) -> bool:
    """Tell whether others know the instance, or fill it.

    What begins empty and is filled by nobody in the class is filled by somebody else.
    """
    init = found.methods.get("__init__")
    if init and any(_is_empty(value) and not _fills(init, name) for name, value in _set_by(init)):
        return True
    if init and any(_enters(node, init.receiver) for node in init.own_nodes):
        return True
    new = found.methods.get("__new__")
    return new is not None and any(map(_is_part_of_other, new.own_nodes))


def _enters(node: ast.AST, receiver: str) -> bool:
    """Tell whether `node` hands the instance to somebody who keeps it: `known.append(self)`."""
    match node:
        case ast.Expr(value=ast.Call(func=func, args=args)):
            return last_name(func) != "setattr" and any(
                isinstance(arg, ast.Name) and arg.id == receiver for arg in args
            )
        case _:
            return False


def _is_part_of_other(node: ast.AST) -> bool:
    """Tell whether an attribute is set on something other than a class: `made.rooms = {}`."""
    match node:
        case ast.Attribute(value=ast.Name(id="cls"), ctx=ast.Store()):
            return False
        case ast.Attribute(value=value, ctx=ast.Store()):
            return not last_name(value)[:1].isupper()
        case _:
            return False


def _is_empty(value: ast.expr) -> bool:
    match value:
        case ast.Dict(keys=[]) | ast.List(elts=[]):
            return True
        case ast.Call(func=func, args=args):
            name = last_name(func)
            return name in _EMPTY or (name in _EMPTY_BUILTINS and (not args or name[:3] == "def"))
        case _:
            return False


def _fills(init: Function, name: str) -> bool:
    """Tell whether `init` itself puts something into the container `name`."""
    for node in init.own_nodes:
        match node:
            case ast.Subscript(value=ast.Attribute(attr=attr), ctx=ast.Store()) if attr == name:
                return True
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr=attr), attr=called)) if (
                attr == name and called in _CHANGERS
            ):
                return True
            case _:
                pass
    return False


def parts_of(found: Class) -> Iterator[tuple[ast.expr, Function]]:
    """Yield what `__init__` stores on the instance, and `__init__`."""
    init = found.methods.get("__init__")
    if init is not None:
        for _, value in _set_by(init):
            yield value, init


def _set_by(init: Function) -> Iterator[tuple[str, ast.expr]]:
    for node in init.own_nodes:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            match target:
                case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner == init.receiver:
                    yield name, node.value
                case _:
                    pass
