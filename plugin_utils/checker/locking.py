"""Which lock a rewritten accessor takes: the one that others hold around its slot, or a new one.

Two locks for one slot keep nobody out. So where another function of the module fills or empties
the slot under a lock, the accessor takes that one, or it is not rewritten.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.definitions import Function
from plugin_utils.checker.events import Store
from plugin_utils.checker.module import Module
from plugin_utils.checker.safety import names_reached
from plugin_utils.checker.sites import Site, is_real
from plugin_utils.checker.syntax import dotted, last_line

__all__ = ("NoLockError", "held_lock", "refuse_inversion")

_REENTRANT = "threading.RLock"
_KINDS = frozenset({"threading.Lock", _REENTRANT})


class NoLockError(Exception):
    """Why no lock would be the right one, in words that follow "not rewritten:"."""


def held_lock(site: Site, binding: ast.stmt, analysis: Analysis) -> str | None:
    """Return the lock that others hold where they store into the slot; `None` if none is held.

    Args:
        site: The lazy build that is to get a lock.
        binding: The statement that makes the empty slot.
        analysis: Of the module of `site`.

    Raises:
        NoLockError: Others hold a lock, but which one, or whether it would do, is not certain.
    """
    module = analysis.module
    held: list[set[str]] = []
    spelt: set[str] = set()
    for store, function in _other_stores(site, analysis):
        if is_real(store.regions):
            held.append(set(_names_of_locks(store, function, module)))
            spelt |= {f"`{ast.unparse(region.lock)}`" for region in store.regions}
        elif analysis.is_sheltered(function, store.slot):
            message = f"`{function.name}` stores `{site.slot}` under a lock that its callers hold"
            raise NoLockError(message)
    if not held:
        return None
    common = held[0].intersection(*held)
    if len(common) != 1:
        message = f"no one lock of the module is held wherever `{site.slot}` is stored"
        message += f", but {', '.join(sorted(spelt))}"
        raise NoLockError(message)
    (name,) = common
    _refuse_if_late(name, site, binding, module)
    if _kind(name, module) != _REENTRANT and not _is_short(name, site, module):
        message = f"`{name}` is a `Lock`, which might be held already: make it an `RLock`"
        raise NoLockError(message)
    return name


def refuse_inversion(site: Site, lock: str | None, module: Module) -> None:
    """Refuse a build that takes a lock of the module under which somebody calls the accessor.

    One thread would hold the accessor's lock and wait for that one, another the other way round.

    Raises:
        NoLockError: There is such a lock.
    """
    reached = names_reached(site.function.node.body, module)
    for name in sorted(name for name in reached if name != lock and _kind(name, module)):
        held = [node for node, _ in _holding(name, module)]
        if site.function.name in names_reached(held, module):
            message = f"its build takes `{name}`, and it is called under that lock, too"
            raise NoLockError(message)


def _other_stores(site: Site, analysis: Analysis) -> Iterator[tuple[Store, Function]]:
    for flow in analysis.flows:
        for store in flow.stores:
            if store.slot == site.slot and flow.function is not site.function:
                yield store, flow.function


def _names_of_locks(store: Store, function: Function, module: Module) -> Iterator[str]:
    """Yield the locks of the module itself that are held at `store`."""
    for region in store.regions:
        match region.lock:
            case ast.Name(id=name) if name not in function.locals and _kind(name, module):
                yield name
            case _:
                pass


def _kind(name: str, module: Module) -> str:
    """Return which lock of `threading` the module binds to `name`, or `""`."""
    match module.bindings.get(name):
        case ast.Call(func=func):
            first, dot, rest = dotted(func).partition(".")
            kind = module.imports.get(first, "") + dot + rest
            return kind if kind in _KINDS else ""
        case _:
            return ""


def _refuse_if_late(name: str, site: Site, binding: ast.stmt, module: Module) -> None:
    """Refuse a lock that an import could ask for before it is there."""
    body = module.tree.body
    # Nothing runs between the slot and a lock that stands right below it.
    next_to_slot = body[body.index(binding) + 1 :][:1]
    earlier = (node for node in body if last_line(node) < site.function.node.lineno)
    made = module.bindings[name]
    if not any(getattr(node, "value", None) is made for node in (*next_to_slot, *earlier)):
        message = f"`{name}` is not made above `{site.function.name}`"
        raise NoLockError(message)


def _is_short(name: str, site: Site, module: Module) -> bool:
    """Tell whether a `Lock` is never held by who comes to the accessor, and not taken by its build.

    Held otherwise than by a `with`, nobody knows where it is held.
    """
    uses = [n for n in ast.walk(module.tree) if isinstance(n, ast.Name) and n.id == name]
    loads = [node for node in uses if isinstance(node.ctx, ast.Load)]
    holding = _holding(name, module)
    return (
        len(loads) == len(holding)
        and not any(_calls_out(node, function, module) for node, function in holding)
        and site.function.name not in names_reached([node for node, _ in holding], module)
        and name not in names_reached(site.function.node.body, module)
    )


def _holding(name: str, module: Module) -> list[tuple[ast.With, Function]]:
    """Return the blocks that hold the lock, and whose they are."""
    return [
        (node, function)
        for function in module.all_functions
        for node in function.own_nodes
        if isinstance(node, ast.With) and _holds(node, name)
    ]


def _calls_out(block: ast.With, function: Function, module: Module) -> bool:
    """Tell whether the block hands control to somebody that its text does not name."""
    for node in ast.walk(block):
        match node:
            case ast.Yield() | ast.YieldFrom():
                return True
            case ast.Call(func=ast.Name(id=name)) if name in module.bindings:
                return True
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(value=ast.Name(id=name))):
                if name in function.locals - function.imports:
                    return True
            case ast.Call(func=func) if not dotted(func):
                return True
            case _:
                pass
    return False


def _holds(node: ast.With, name: str) -> bool:
    held = [item.context_expr for item in node.items]
    return any(isinstance(lock, ast.Name) and lock.id == name for lock in held)
