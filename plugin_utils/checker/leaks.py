"""What is lost when a second one is built and dropped: memory, or more than that.

Of a single slot two callers must not hold different things, whatever these are. A cache that has
many keys is mostly there to save time; there it counts whether the loser holds something open.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from plugin_utils.checker.builders import holds_something, is_extended, is_part_of_unique, values_of
from plugin_utils.checker.definitions import Class, Function
from plugin_utils.checker.makers import is_unique
from plugin_utils.checker.module import Module
from plugin_utils.checker.neighbours import class_named, metaclass_of
from plugin_utils.checker.sites import Site
from plugin_utils.checker.syntax import dotted, last_name, nodes_in
from plugin_utils.checker.words import is_open, words_of

__all__ = ("class_built", "gives_one", "leaks", "leaks_as")

_DEPTH = 2
# They give an instance of the class whose method they are.
_MAKING = (["from"], ["load"])


def leaks(site: Site, module: Module) -> bool:
    """Tell whether a second one of what is built holds something open, or is told from the first.

    By the name of the slot, by what is called to build it, and by its class.
    """
    if site.function.name == "__call__" and site.function.receives_class:
        return True  # a metaclass that makes singletons: it says itself that one has to be enough
    return is_open(site.slot.name) or leaks_as(site.store.value, site.function, module)


def leaks_as(value: ast.expr, function: Function, module: Module) -> bool:
    """Tell whether a second `value` holds something open, or is told from the first."""
    if any(map(is_open, _called(value, function))):
        return True
    if isinstance(value, ast.Name) and is_part_of_unique(value.id, function):
        return True
    made = nodes_in(_values(value, function))
    if any(is_unique(node) for node in made if isinstance(node, ast.expr)):
        return True
    built = class_built(value, function, module)
    return built is not None and holds_something(*built, _DEPTH)


def _called(value: ast.expr, function: Function) -> Iterator[str]:
    """Yield the names of what is called to make `value`."""
    for node in nodes_in(_values(value, function)):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=name)) if (
                words_of(name)[:1] in _MAKING
            ):
                yield last_name(owner)
            case ast.Call(func=func):
                yield last_name(func)
            case _:
                pass


def _values(value: ast.expr, function: Function) -> list[ast.expr]:
    return list(values_of(value.id, function)) if isinstance(value, ast.Name) else [value]


def class_built(value: ast.expr, function: Function, module: Module) -> tuple[Class, Module] | None:
    """Return the class that `value` is an instance of, and its module, if it can be found."""
    for made in _values(value, function):
        match made:
            case ast.Call(func=ast.Name(id="cls") | ast.Attribute(attr="__new__")):
                owner = function.owner
                return (owner, module) if owner and not is_extended(owner, module) else None
            case ast.Call(func=func) if found := class_named(_class_name(func), module):
                return found
            case _:
                pass
    return None


def _class_name(func: ast.expr) -> str:
    """Return the dotted name of the class that is called, also by `Client.from_url()`."""
    match func:
        case ast.Attribute(value=owner, attr=name) if words_of(name)[:1] == ["from"]:
            return dotted(owner)
        case _:
            return dotted(func)


def gives_one(found: Class, module: Module) -> bool:
    """Tell whether the class itself gives one instance to all, and holds a lock to do so."""
    makers = [(found.methods.get("__new__"), module)]
    if made_by := metaclass_of(found, module):
        makers.append((made_by[0].methods.get("__call__"), made_by[1]))
    return any(maker is not None and _takes_lock(maker, where) for maker, where in makers)


def _takes_lock(function: Function, module: Module) -> bool:
    items = (node for node in function.own_nodes if isinstance(node, ast.withitem))
    return any(module.is_lock(item.context_expr) for item in items)
