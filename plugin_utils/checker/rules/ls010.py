"""A flag says that the work is done before the work is done.

## What it does

Reports a flag that is set to `True` first, while the values it stands for are stored after it, or
the plugins it stands for are imported after it, and callers look at the flag without a lock.

## Why it is bad

A second caller finds the flag set, skips the work, and reads what is not there yet: a default in
place of the configured value, a registry with no plugins in it. If the work then fails, the flag
stays set and nobody tries again.

## Example

```python
import os

_resolved = False
_allowed = False


def allowed():
    global _resolved, _allowed
    if _resolved:
        return _allowed
    _resolved = True
    _allowed = os.environ.get("ALLOW_PRIVATE", "") == "1"
    return _allowed
```

## Use instead

One slot holds the value, and its presence is the flag:

```python
import os

from plugin_utils import lazy_singleton


@lazy_singleton
def allowed():
    return os.environ.get("ALLOW_PRIVATE", "") == "1"


assert allowed() is False
```

## Fix safety

Not rewritten: which of the two writes is the wrong one depends on what the flag stands for.

## Known limits

Work is looked for in the rest of the block, and after the `with` that the block stands in.
`atexit.register` is no work that anybody waits for.

A latch that notes that something was tried, said or started (`_warned`, `_attempted`) is left
alone, unless its function returns what comes after it. So is a flag that nobody asks about before
the function runs: that is a setter. Only flags of the whole process are looked at.

A value is a flag, too, if it is tested alone and the function returns what it stores after it, or
reads further down a global that was `None` until then; and so is a module that is imported into a
global.

Medium where few callers wait for the work, such as a patch or a setting that some other function
reads: the function neither returns what it stores after the flag, nor enters anything elsewhere by
an import, `load...` or `register...`. `info` in a method of an `asyncio` protocol, which a loop
calls, and where the module itself comes first, while it is imported.
"""

import ast
from collections.abc import Iterator, Sequence

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.events import Flow, Store
from plugin_utils.checker.import_time import is_filled_at_import
from plugin_utils.checker.model import Level
from plugin_utils.checker.rules.rule import Hit, Rule
from plugin_utils.checker.slots import Place, is_unset
from plugin_utils.checker.surroundings import is_called_by_loop
from plugin_utils.checker.syntax import dotted, last_line, last_name
from plugin_utils.checker.words import words_of

__all__ = ("RULE",)

# A latch: it says that something was tried or said once, and nobody waits for the outcome.
_LATCHES = frozenset("""
    active attempt attempted busy checked emitted failed hinted logged notified nudged printed
    reported running seen shown shutting closed started stopped stopping tried warned warning
    """.split())  # fmt: skip
_WORK = frozenset("discover import load populate register scan".split())


def _check(analysis: Analysis) -> Iterator[Hit]:
    for flow in analysis.flows:
        for store in flow.stores:
            is_flag = isinstance(store.value, ast.Constant)
            is_too_soon = _is_early if is_flag else _is_first_of_two
            if is_too_soon(store, flow, analysis):
                message = (
                    f"`{store.slot}` says done before the work is: a second caller goes on with a"
                    " value that is not there yet"
                )
                level = _level(store, flow, analysis)
                yield Hit(store.node, flow.function, str(store.slot), level, message)


def _level(store: Store, flow: Flow, analysis: Analysis) -> Level:
    if is_called_by_loop(flow.function, analysis.module):
        return Level.INFO
    if is_filled_at_import(store.slot, flow, analysis):
        return Level.INFO
    return Level.HIGH if _is_waited_for(store, flow) else Level.MEDIUM


def _is_waited_for(flag: Store, flow: Flow) -> bool:
    """Tell whether callers need what follows the flag: a value, or registrations elsewhere.

    Few wait for a patch, or for a setting that some other function reads.
    """
    if not isinstance(flag.value, ast.Constant) or _delivers(flag, flow):
        return True
    return any(_registers(node) for statement in flag.rest for node in ast.walk(statement))


def _is_early(store: Store, flow: Flow, analysis: Analysis) -> bool:
    if not _is_true(store.value) or not _is_open(store, flow, analysis):
        return False
    is_latch = not _LATCHES.isdisjoint(words_of(store.slot.name))
    if is_latch and not _delivers(store, flow):
        return False
    if flow.function.is_async and not _awaits(store.rest):
        return False
    is_asked = _is_asked_first(store, flow, analysis)
    return is_asked and any(_works(s, store, flow) for s in store.rest)


def _is_open(store: Store, flow: Flow, analysis: Analysis) -> bool:
    """Tell whether another thread can look at the slot, which is one of the whole process."""
    return (
        store.slot.is_process_wide
        and not store.slot.is_item
        and not analysis.is_sheltered(flow.function, store.slot)
        and analysis.is_read_unlocked(store)
    )


def _is_first_of_two(store: Store, flow: Flow, analysis: Analysis) -> bool:
    """Tell whether the slot is asked about alone, and the function returns what is filled later."""
    is_asked = any(test.slot == store.slot for test in store.own_tests)
    if not is_asked or flow.function.is_async or not _is_open(store, flow, analysis):
        return False
    return _delivers(store, flow) or _is_read_later(store, flow, analysis)


def _is_read_later(first: Store, flow: Flow, analysis: Analysis) -> bool:
    """Tell whether what is stored after `first` is read by those, too, who find `first` there."""
    inside = {node for statement in first.rest for node in ast.walk(statement)}
    asked = {test.slot for test in flow.tests}
    later = {
        store.slot.name
        for store in flow.stores
        if store.node in inside
        and store.slot not in asked
        and store.slot.place is Place.GLOBAL
        and _begins_unset(store.slot.name, analysis)
    }
    end = max((last_line(statement) for statement in first.rest), default=0)
    return bool(later) and any(
        isinstance(node, ast.Name) and node.id in later and isinstance(node.ctx, ast.Load)
        for node in ast.walk(flow.function.node)
        if getattr(node, "lineno", 0) > end
    )


def _begins_unset(name: str, analysis: Analysis) -> bool:
    """Tell whether a global holds nothing until a function fills it."""
    first = analysis.module.bindings.get(name)
    return first is not None and is_unset(first, analysis.module)


def _is_asked_first(store: Store, flow: Flow, analysis: Analysis) -> bool:
    """Tell whether the flag decides that the function runs; if not, it is a plain setter."""
    if any(test.slot == store.slot for test in flow.tests):
        return True
    calls = analysis.calls_of(flow.function)
    return any(test.slot == store.slot for call in calls for test in call.tests)


def _delivers(flag: Store, flow: Flow) -> bool:
    """Tell whether the function returns what is stored after the flag, whatever that is called."""
    returned = {found.read.slot for found in flow.returns if found.read is not None}
    inside = {node for statement in flag.rest for node in ast.walk(statement)}
    asked = {test.slot for test in flow.tests}
    later = (s for s in flow.stores if s.node in inside and s.slot in returned - asked)
    return any(map(_is_value, later))


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
    ) or any(map(_registers, inside))


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


RULE = Rule("LS010", "Done-flag set before the work", "high or medium", __doc__ or "", _check)
