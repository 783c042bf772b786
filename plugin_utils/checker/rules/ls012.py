"""A reset empties a flag and a value one after the other, and a fast path reads both unlocked.

## What it does

Reports the reset of a pair: a flag that says whether there is a value, and the value. The accessor
tests the flag and returns the value without a lock.

## Why it is bad

No order of the two writes is right. A caller that saw the flag set a moment ago returns the value
that the reset has just emptied. A lock in the reset does not help, for the fast path takes none.

## Example

```python
import threading

_lock = threading.Lock()
_ready = False
_table = None


def table():
    global _ready, _table
    if _ready:
        return _table
    with _lock:
        if not _ready:
            _table = {"built": True}
            _ready = True
    return _table


def reset():
    global _ready, _table
    with _lock:
        _ready = False
        _table = None
```

## Use instead

```python
from plugin_utils import lazy_singleton


@lazy_singleton
def table():
    return {"built": True}


table()
assert table.reset()
```

## Fix safety

Not rewritten: the flag may have other readers.

## Known limits

The pair and its reset must be in one module, and of the process: globals or class attributes.
A reset by one assignment of a pair (`_ready, _table = False, None`) is torn too, and reported; one
that replaces a single object that holds both is not torn, and is not.
"""

from collections.abc import Iterator

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.events import Flow, Store
from plugin_utils.checker.makers import Makes
from plugin_utils.checker.model import Level
from plugin_utils.checker.rules.rule import Hit, Rule
from plugin_utils.checker.slots import Slot

__all__ = ("RULE",)


def _check(analysis: Analysis) -> Iterator[Hit]:
    for reader in analysis.flows:
        for flag, value in _pairs(reader, analysis):
            for flow in analysis.flows:
                first = _reset(flag, value, flow, analysis)
                if first is not None and flow is not reader:
                    message = (
                        f"`{flag}` and `{value}` are emptied one after the other, but"
                        f" `{reader.function.name}()` reads them without a lock: it can return the"
                        " emptied value"
                    )
                    yield Hit(first.node, flow.function, str(first.slot), Level.MEDIUM, message)


def _pairs(flow: Flow, analysis: Analysis) -> set[tuple[Slot, Slot]]:
    """Return each flag that `flow` tests without a lock, with the value that it returns for it."""
    flags = {test.slot for test in flow.tests if not test.read.regions and _is_plain(test.slot)}
    set_here = {
        store.slot
        for store in flow.stores
        if store.slot in flags and store.own_tests and analysis.makes(store, flow) is Makes.FLAG
    }
    returned = {r.read.slot for r in flow.returns if r.read and not r.read.regions}
    built = {store.slot for store in flow.stores if any(t.slot in set_here for t in store.tests)}
    return {(flag, value) for flag in set_here for value in returned & built if flag != value}


def _is_plain(slot: Slot) -> bool:
    return slot.is_process_wide and not slot.is_item


def _reset(flag: Slot, value: Slot, flow: Flow, analysis: Analysis) -> Store | None:
    """Return the first of the stores by which `flow` empties both slots."""
    emptied = [
        store
        for store in flow.stores
        if store.slot in {flag, value} and analysis.makes(store, flow) <= Makes.FLAG
    ]
    return emptied[0] if {store.slot for store in emptied} == {flag, value} else None


RULE = Rule("LS012", "Flag and value reset one by one", "medium", __doc__ or "", _check)
