"""What is there before what it promises: a flag, a value, a key or a stamp, stored too soon."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from plugin_utils.checker.adding import adds_up
from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.events import Flow, Store
from plugin_utils.checker.slots import Place, Slot, is_unset, slot_named
from plugin_utils.checker.syntax import dotted, last_line, last_name
from plugin_utils.checker.words import words_of

__all__ = ("is_too_soon", "is_waited_for")

# A latch: it says that something was tried or said once, and nobody waits for the outcome.
_LATCHES = frozenset("""
    active attempt attempted busy checked emitted failed hinted logged notified nudged printed
    reported running seen shown shutting closed started stopped stopping tried warned warning
    """.split())  # fmt: skip
_WORK = frozenset("discover import load populate register scan".split())


def is_too_soon(store: Store, flow: Flow, analysis: Analysis) -> bool:
    """Tell whether others take `store` for the sign that more is there than there is."""
    if not _is_read_by_others(store, flow, analysis):
        return False
    if not isinstance(store.value, ast.Constant):
        return _is_first_of_two(store, flow, analysis) or _is_stamp(store, flow)
    if store.slot.is_item:
        return False
    return _is_early(store, flow, analysis) or _is_placeholder(store, flow)


def is_waited_for(flag: Store, flow: Flow) -> bool:
    """Tell whether callers need what follows the flag: a value, or registrations elsewhere.

    Few wait for a patch, or for a setting that some other function reads.
    """
    if not isinstance(flag.value, ast.Constant) or _delivers(flag, flow):
        return True
    return any(_registers(node) for statement in flag.rest for node in ast.walk(statement))


def _is_early(flag: Store, flow: Flow, analysis: Analysis) -> bool:
    """Tell whether a flag says that work is done which follows."""
    if not _is_true(flag.value):
        return False
    is_latch = not _LATCHES.isdisjoint(words_of(flag.slot.name))
    if is_latch and not _delivers(flag, flow):
        return False
    if flow.function.is_async and not _awaits(flag.rest):
        return False
    is_asked = _is_asked_first(flag, flow, analysis)
    return is_asked and any(_works(s, flag, flow) for s in flag.rest)


def _is_placeholder(store: Store, flow: Flow) -> bool:
    """Tell whether a constant stands in for what the same block stores after it."""
    if not _is_taken_for_full(store) or not _is_asked_about(store) or flow.function.is_async:
        return False
    later = (s.value for s in _stored_after(store, flow) if s.slot == store.slot)
    return any(not isinstance(value, ast.Constant) for value in later)


def _is_taken_for_full(store: Store) -> bool:
    """Tell whether who asks takes the constant for a value: `False` is one if `None` is not."""
    if not isinstance(store.value, ast.Constant) or store.value.value is None:
        return False
    asked = (test.node for test in store.own_tests if test.slot == store.slot)
    return bool(store.value.value) or any(map(_asks_for_none, asked))


def _asks_for_none(test: ast.expr) -> bool:
    match test:
        case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return True
        case _:
            return False


def _is_first_of_two(store: Store, flow: Flow, analysis: Analysis) -> bool:
    """Tell whether the slot is asked about alone, and the function returns what is filled later."""
    if not _is_asked_about(store) or flow.function.is_async:
        return False
    is_returned = not store.slot.is_item and _delivers(store, flow)
    return is_returned or _is_read_later(store, flow, analysis)


def _is_stamp(store: Store, flow: Flow) -> bool:
    """Tell whether a stamp says that values are fresh which are only dropped after it."""
    if store.slot.place is Place.MODULE or flow.function.is_async:
        return False
    tests = (test.node for test in store.own_tests if test.slot == store.slot)
    if not any(_asks_whether_equal(node, store.value) for node in tests):
        return False
    later = (node for statement in store.rest for node in ast.walk(statement))
    return any(isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store) for n in later)


def _asks_whether_equal(test: ast.expr, value: ast.expr) -> bool:
    match test:
        case ast.Compare(left=left, comparators=[right]):
            return ast.dump(value) in {ast.dump(left), ast.dump(right)}
        case _:
            return False


def _is_read_later(first: Store, flow: Flow, analysis: Analysis) -> bool:
    """Tell whether what is stored after `first` is read by those, too, who find `first` there.

    That is a variable that held nothing until then, or an item of another table.
    """
    asked = {test.slot.container for test in flow.tests}
    later = {
        store.slot.container
        for store in _stored_after(first, flow)
        if store.slot.container not in asked
        and (store.slot.is_item or _begins_unset(store.slot, analysis))
    }
    end = max((last_line(statement) for statement in first.rest), default=0)
    nodes = ast.walk(flow.function.node) if later else ()
    read = (
        _read_by(node, is_item=first.slot.is_item)
        for node in nodes
        if getattr(node, "lineno", 0) > end
    )
    slots = (slot_named(value, flow.function, analysis.module) for value in read if value)
    return not later.isdisjoint(slots)


def _read_by(node: ast.AST, *, is_item: bool) -> ast.expr | None:
    """Return the variable that `node` reads, or reads an item of."""
    match node:
        case ast.Name(ctx=ast.Load()) | ast.Attribute(ctx=ast.Load()) if not is_item:
            return node
        case ast.Subscript(value=value, ctx=ast.Load()):
            return value
        case _:
            return None


def _stored_after(first: Store, flow: Flow) -> list[Store]:
    inside = {node for statement in first.rest for node in ast.walk(statement)}
    return [store for store in flow.stores if store.node in inside]


def _begins_unset(slot: Slot, analysis: Analysis) -> bool:
    """Tell whether a variable holds nothing until a function fills it."""
    owner = analysis.module.classes.get(slot.owner)
    bindings = owner.bindings if owner else analysis.module.bindings
    first = bindings.get(slot.name)
    return first is not None and is_unset(first, analysis.module)


def _is_read_by_others(store: Store, flow: Flow, analysis: Analysis) -> bool:
    """Tell whether another thread can look at the slot, which is one of the whole process."""
    return (
        store.slot.is_process_wide
        and not analysis.is_sheltered(flow.function, store.slot)
        and analysis.is_read_unlocked(store)
    )


def _is_asked_about(store: Store) -> bool:
    """Tell whether the slot itself was found empty, and not a flag that stands for it."""
    return any(test.slot == store.slot for test in store.own_tests)


def _is_asked_first(store: Store, flow: Flow, analysis: Analysis) -> bool:
    """Tell whether the flag decides that the function runs; if not, it is a plain setter."""
    if any(test.slot == store.slot for test in flow.tests):
        return True
    calls = analysis.calls_of(flow.function)
    return any(test.slot == store.slot for call in calls for test in call.tests)


def _delivers(flag: Store, flow: Flow) -> bool:
    """Tell whether the function returns what is stored after the flag, whatever that is called."""
    returned = {found.read.slot for found in flow.returns if found.read is not None}
    wanted = returned - {test.slot for test in flow.tests}
    return any(_is_value(store) for store in _stored_after(flag, flow) if store.slot in wanted)


def _awaits(statements: Sequence[ast.stmt]) -> bool:
    """Tell whether other tasks of the loop can run before the work is done."""
    return any(isinstance(node, ast.Await) for s in statements for node in ast.walk(s))


def _is_true(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is True


def _works(statement: ast.stmt, flag: Store, flow: Flow) -> bool:
    """Tell whether `statement` produces what the flag stands for: a value, or registrations."""
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
        return False  # one more flag
    inside = set(ast.walk(statement))
    return any(
        store.node in inside and store.slot != flag.slot and _is_value(store)
        for store in flow.stores
    ) or any(_registers(node) or adds_up(node) for node in inside)


def _is_value(store: Store) -> bool:
    emptied = isinstance(store.value, ast.Constant) and not store.value.value
    return store.slot.is_process_wide and not emptied


def _registers(node: ast.AST) -> bool:
    """Tell whether `node` fills a registry elsewhere: imports for effect, or scans for plugins."""
    match node:
        case ast.Import(names=names):
            return any("." in alias.name and alias.asname is None for alias in names)
        case ast.Call(func=func) if dotted(func) != "atexit.register":
            return not _WORK.isdisjoint(words_of(last_name(func)))
        case _:
            return False
