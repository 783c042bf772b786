"""What another module binds for this one: the lock that is held, the storage that is filled."""

from __future__ import annotations

import ast

from plugin_utils.checker.module import PER_THREAD, Module
from plugin_utils.checker.neighbours import value_named
from plugin_utils.checker.sites import Site
from plugin_utils.checker.syntax import dotted, last_name, makes_lock, nodes_in

__all__ = ("is_guarded_elsewhere", "is_per_thread_elsewhere")


def is_per_thread_elsewhere(site: Site, module: Module) -> bool:
    """Tell whether the slot is an attribute of a storage in which each thread finds its own."""
    value = value_named(site.slot.owner, module)
    return isinstance(value, ast.Call) and last_name(value.func) in PER_THREAD


def is_guarded_elsewhere(site: Site, module: Module) -> bool:
    """Tell whether a lock is held around the store whose name does not say that it is one."""
    if site.has_lock:
        return False  # one that is known here
    withs = (node for node in site.function.own_nodes if isinstance(node, ast.With))
    around = (found for found in withs if site.store.node in nodes_in(found.body))
    names = (dotted(item.context_expr) for found in around for item in found.items)
    return any(makes_lock(value_named(name, module)) for name in names)
