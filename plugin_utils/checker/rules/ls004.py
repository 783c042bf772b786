"""A slot is tested in one function and filled by another, without a lock around both.

## What it does

Reports the test, where the branch it guards calls a helper of the same module or class that stores
to the slot without looking again.

## Why it is bad

It is the race of `LS001`, in two places. A lock inside the helper does not end it, unless the
helper tests again under that lock.

## Example

```python
import sqlite3

_database = None


def _open_database():
    global _database
    _database = sqlite3.connect(":memory:", check_same_thread=False)


def database():
    if _database is None:
        _open_database()
    return _database
```

## Use instead

```python
import sqlite3

from plugin_utils import lazy_singleton


@lazy_singleton
def database():
    return sqlite3.connect(":memory:", check_same_thread=False)


assert database() is database()
```

## Fix safety

Not rewritten: the helper may have other callers.

## Known limits

The helper is found by its name, in the same module only. A chain of two helpers is not followed,
nor is a helper that is passed on as a value, or that fills a list by `append`.
"""

import ast
from collections.abc import Iterator

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.builders import makes_for
from plugin_utils.checker.definitions import Function
from plugin_utils.checker.events import Call, Flow, Store, Test
from plugin_utils.checker.evidence import limit
from plugin_utils.checker.makers import Makes
from plugin_utils.checker.rules.rule import Hit, Rule, level_of
from plugin_utils.checker.sites import Site

__all__ = ("RULE",)


def _check(analysis: Analysis) -> Iterator[Hit]:
    for store, helper in analysis.bare_stores:
        for call in analysis.calls_of(helper.function):
            test = _unlocked_test(call, store)
            if test is None or not _can_race(call, helper.function, store, analysis):
                continue
            made = _makes(store, helper, call, analysis)
            site = Site(store, analysis.flow_of(call.caller), made)
            level = min(level_of(site, analysis), limit(site, analysis))
            message = (
                f"`{store.slot}` is tested here and stored in `{helper.function.name}()` without a"
                " lock around both: two threads can build it twice"
            )
            yield Hit(test.node, call.caller, str(store.slot), level, message)


def _can_race(call: Call, helper: Function, store: Store, analysis: Analysis) -> bool:
    """Tell whether `call` is one of the helper, at a time when another thread or task can call."""
    match call.node.func:
        case ast.Name():
            is_it = helper.owner is None
        case ast.Attribute(value=ast.Name(id=name)):
            is_it = helper.owner is not None and name in {call.caller.receiver, helper.owner.name}
        case _:
            is_it = False
    on_one_loop = call.caller.is_async and not helper.is_async
    return is_it and not on_one_loop and not analysis.is_sheltered(call.caller, store.slot)


def _makes(store: Store, helper: Flow, call: Call, analysis: Analysis) -> Makes:
    """Return what ends up in the slot, also if the helper only stores what it is passed."""
    if isinstance(store.value, ast.Name) and store.value.id in helper.function.params:
        passed = [*call.node.args, *(keyword.value for keyword in call.node.keywords)]
        name = store.slot.name
        return max(
            (makes_for(name, p, call.caller, analysis.module) for p in passed), default=Makes.VALUE
        )
    return analysis.makes(store, helper)


def _unlocked_test(call: Call, store: Store) -> Test | None:
    tests = [test for test in call.tests if test.slot == store.slot]
    if any(test.read.regions & call.regions for test in tests):
        return None
    return tests[-1] if tests else None


RULE = Rule("LS004", "Tested here, stored in a helper", "high", __doc__ or "", _check)
