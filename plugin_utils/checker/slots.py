"""Which shared place an expression names: the slot that a lazy singleton lives in."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from enum import Enum

from plugin_utils.checker.definitions import Function
from plugin_utils.checker.module import Module
from plugin_utils.checker.syntax import dotted, last_name
from plugin_utils.checker.words import is_class_name, looks_per_thread, looks_unset

__all__ = ("Place", "Slot", "is_unset", "item_of", "slot_named")

# Shared, but not a place for singletons: the process's own tables.
_FOREIGN = frozenset("""
    os.environ sys.argv sys.meta_path sys.path sys.stderr sys.stdin sys.stdout warnings.filters
    """.split())  # fmt: skip
# Every request finds its own there.
_PER_REQUEST = frozenset({"flask.g", "flask.session", "quart.g", "quart.session"})


class Place(Enum):
    """Where a slot lives, which decides who shares it."""

    GLOBAL = "global"
    MODULE = "attribute of another module"
    CLASS = "class attribute"
    INSTANCE = "instance attribute"


@dataclass(frozen=True, slots=True)
class Slot:
    """A place that holds a lazily built object. Equal slots are the same place."""

    place: Place
    owner: str
    """The class, module or object whose attribute this is; empty for a global."""
    name: str
    is_item: bool = False
    """Whether the slot is a key of the container `name` instead of the variable itself."""
    key: str = ""
    """Which key, if it is a constant; all keys that are computed count as one slot."""

    def __str__(self) -> str:
        """Spell the slot as the source does."""
        full = f"{self.owner}.{self.name}" if self.owner else self.name
        return f"{full}[...]" if self.is_item else full

    @property
    def any_key(self) -> Slot:
        """The slot that stands for all keys of the container."""
        return replace(self, key="")

    @property
    def container(self) -> Slot:
        """The container that the slot is an item of."""
        return Slot(self.place, self.owner, self.name)

    @property
    def is_process_wide(self) -> bool:
        """Whether every thread of the process sees this one place."""
        return self.place is not Place.INSTANCE


def slot_named(node: ast.expr, function: Function, module: Module) -> Slot | None:
    """Return the slot that `node` names, or `None` if it names nothing that is shared."""
    match node:
        case ast.Name(id=name):
            return _global(name, function, module)
        case ast.Attribute(value=value, attr=name):
            return _attribute(value, name, function, module)
        case ast.Subscript(value=value, slice=key):
            return item_of(value, function, module, key)
        case ast.Call(func=ast.Name(id="getattr"), args=[value, ast.Constant(value=str(name)), *_]):
            return _attribute(value, name, function, module)
        case ast.Call(func=ast.Attribute(value=value, attr="get"), args=[key, *_]):
            return item_of(value, function, module, key)
        case _:
            return None


def item_of(
    container: ast.expr, function: Function, module: Module, key: ast.expr | None = None
) -> Slot | None:
    """Return the slot of `key` in `container`, or `None` if the container is not shared."""
    match container, key:
        case ast.Call(func=ast.Name(id="globals")), ast.Constant(value=str(name)):
            return Slot(Place.GLOBAL, "", name)
        case (
            ast.Attribute(value=owner, attr="__dict__")
            | ast.Call(func=ast.Name(id="vars"), args=[owner]),
            ast.Constant(value=str(name)),
        ):
            return _attribute(owner, name, function, module)
        case ((ast.Name() | ast.Attribute()), _):
            found = slot_named(container, function, module)
        case ast.Subscript(value=outer, slice=first), _:
            found = item_of(outer, function, module, first)
        case _:
            return None
    text = repr(key.value) if isinstance(key, ast.Constant) else ""
    if found and found.is_item:
        text = f"{found.key}][{text}"
    return found and Slot(found.place, found.owner, found.name, is_item=True, key=text)


def is_unset(node: ast.expr, module: Module) -> bool:
    """Tell whether `node` is what an empty slot holds: `None`, or a marker made for it."""
    match node:
        case ast.Constant(value=value):
            return value is None
        case ast.Name(id=name):
            return looks_unset(name) or _is_marker(module.bindings.get(name))
        case ast.Attribute(attr=name):
            return looks_unset(name)
        case _:
            return False


def _is_marker(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and last_name(value.func) == "object"


def _global(name: str, function: Function, module: Module) -> Slot | None:
    if name in module.thread_locals or not _is_shared_name(name, function, module):
        return None
    return Slot(Place.GLOBAL, "", name)


def _is_shared_name(name: str, function: Function, module: Module) -> bool:
    if name in module.bindings:
        return name not in function.locals
    return name not in module.imports and name in function.declared


def _attribute(value: ast.expr, name: str, function: Function, module: Module) -> Slot | None:
    match value:
        case ast.Name(id=owner) if owner == _method(function).receiver:
            return _own_attribute(name, function, module)
        case ast.Name(id=owner):
            return _foreign_attribute(owner, name, function, module)
        case (
            ast.Call(func=ast.Name(id="type"), args=[ast.Name()]) | ast.Attribute(attr="__class__")
        ):
            return Slot(Place.CLASS, _class_name(function), name)
        case ast.Subscript() if _is_this_module(value):
            return Slot(Place.GLOBAL, "", name)
        case ast.Attribute() if (owner := dotted(value)).partition(".")[0] in module.imports:
            return _unless_foreign(Slot(Place.MODULE, owner, name))
        case _:
            return None


def _method(function: Function) -> Function:
    """Return the method whose receiver is in scope, also inside a function nested in it."""
    while not function.receiver and function.outer is not None:
        function = function.outer
    return function


def _class_name(function: Function) -> str:
    owner = _method(function).owner
    return owner.name if owner else ""


def _own_attribute(name: str, function: Function, module: Module) -> Slot | None:
    method = _method(function)
    if name in module.thread_locals or method.owner is None:
        return None
    by_class = method.receives_class or name in method.owner.shared_names
    return Slot(Place.CLASS if by_class else Place.INSTANCE, method.owner.name, name)


def _foreign_attribute(owner: str, name: str, function: Function, module: Module) -> Slot | None:
    if owner in module.thread_locals or owner in function.params:
        return None
    if looks_per_thread(owner) or module.imports.get(owner, "") in _PER_REQUEST:
        return None
    if owner in module.classes:
        return Slot(Place.CLASS, owner, name)
    if owner in function.own_class_names:
        return Slot(Place.CLASS, _class_name(function), name)
    if owner in module.imports:
        place = Place.CLASS if is_class_name(owner) else Place.MODULE
        return _unless_foreign(Slot(place, owner, name))
    if owner in function.locals:
        original = function.aliases.get(owner, "") if module.classes else ""
        return Slot(Place.CLASS, original, name) if original in module.classes else None
    if not _holds_attributes(owner, module):
        return None
    return Slot(Place.GLOBAL, owner, name)


def _is_this_module(value: ast.expr | None) -> bool:
    """Tell whether `value` is `sys.modules[__name__]`."""
    match value:
        case ast.Subscript(value=ast.Attribute(attr="modules"), slice=ast.Name(id="__name__")):
            return True
        case _:
            return False


def _unless_foreign(slot: Slot) -> Slot | None:
    return None if str(slot) in _FOREIGN else slot


def _holds_attributes(owner: str, module: Module) -> bool:
    """Tell whether a global is a function, this module, or an object made to hold slots."""
    if owner in module.functions:
        return True
    value = module.bindings.get(owner)
    if not isinstance(value, ast.Call):
        return _is_this_module(value)
    return last_name(value.func) in module.classes or last_name(value.func) == "SimpleNamespace"
