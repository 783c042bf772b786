"""How a block of statements ends, what it missed, and which flag it sets last."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from plugin_utils.checker.conditions import State, read_of
from plugin_utils.checker.events import Store, Test
from plugin_utils.checker.syntax import last_name

__all__ = ("caught_by", "flagged", "leaves", "missed_by", "suppressed_by")

_MISSES = frozenset({"KeyError", "LookupError", "AttributeError", "NameError"})
_Block = Sequence[ast.stmt]


def leaves(block: _Block) -> bool:
    """Tell whether `block` ends by leaving; a `raise` does not count, for nothing was found."""
    match block[-1] if block else None:
        case ast.Return() | ast.Continue() | ast.Break():
            return True
        case ast.If(body=body, orelse=orelse):
            return leaves(body) and leaves(orelse)
        case ast.With(body=body) | ast.AsyncWith(body=body):
            return leaves(body)
        case _:
            return False


def missed_by(block: _Block, caught: list[ast.expr], state: State) -> tuple[Test, ...]:
    """Return the test that `try: return cache[key]` with `except KeyError` amounts to."""
    if _MISSES.isdisjoint(map(last_name, caught)):
        return ()
    match block:
        case (
            [ast.Return(value=ast.expr() as value), *_]
            | [ast.Assign(value=value), *_]
            | [ast.Expr(value=value), *_]
        ):
            read = read_of(value, state)
            return (Test(read, value),) if read else ()
        case _:
            return ()


def caught_by(handler: ast.ExceptHandler) -> list[ast.expr]:
    """Return the errors that `handler` names."""
    match handler.type:
        case None:
            return []
        case ast.Tuple(elts=elts):
            return elts
        case single:
            return [single]


def suppressed_by(node: ast.With | ast.AsyncWith) -> list[ast.expr]:
    """Return the errors that a `with suppress(...)` leaves out."""
    match node.items:
        case [ast.withitem(context_expr=ast.Call(func=func, args=args))]:
            return args if last_name(func) == "suppress" else []
        case _:
            return []


def flagged(stores: list[Store]) -> list[Store]:
    """Return `stores`, each with the slots that stand for it because they were found unset.

    That is a flag that is set after it, or another slot that is filled under one test with it.
    """
    tested = [store for store in stores if store.own_tests]
    return [_flagged(store, tested) for store in stores] if tested else stores


def _flagged(store: Store, tested: list[Store]) -> Store:
    if store in tested and _is_true(store.value):
        return store
    return replace(store, flags=frozenset(t.slot for t in tested if _stands_for(t, store)))


def _stands_for(other: Store, store: Store) -> bool:
    """Tell whether `other` says that the slot of `store` is filled; that it is tested, is known."""
    if _is_true(other.value):
        return other.node.lineno > store.node.lineno
    is_one_object = last_name(other.value) == last_name(store.value) != ""
    is_shared = store.slot.is_process_wide and other.slot.is_process_wide
    return is_shared and not is_one_object and other.node is not store.node and not store.own_tests


def _is_true(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is True
