"""Who works with what a slot holds, apart from the function that stores it."""

from __future__ import annotations

import ast

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.definitions import Function
from plugin_utils.checker.module import Module
from plugin_utils.checker.sites import Site
from plugin_utils.checker.slots import Slot, slot_named
from plugin_utils.checker.syntax import last_name

__all__ = ("is_used_elsewhere",)


def is_used_elsewhere(site: Site, analysis: Analysis) -> bool:
    """Tell whether another function of the module returns what `site` stores, or a part of it."""
    functions = analysis.module.all_functions
    others = (function for function in functions if function is not site.function)
    return any(_uses(other, site.slot, analysis.module) for other in others)


def _uses(function: Function, slot: Slot, module: Module) -> bool:
    return any(
        last_name(value) == slot.name and slot_named(value, function, module) == slot
        for value in map(_used_by, function.own_nodes)
        if value is not None
    )


def _used_by(node: ast.AST) -> ast.expr | None:
    """Return what `node` takes a part of, or returns."""
    match node:
        case ast.Attribute(value=value, ctx=ast.Load()) | ast.Return(value=value):
            return value
        case _:
            return None
