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
reads further down a global or a class attribute that was `None` until then; and so is a module that
is imported into a global. So is a key of one table, unless its value is a constant, if the function
stores in another after it, and reads that further down; a constant that the same block replaces by
what was computed (`False`, too, if `None` is asked for); and a stamp (`_owner_pid = os.getpid()`)
that says that values are fresh before the old ones, attributes of something, are dropped.

Medium where few callers wait for the work, such as a patch, a handler or a setting that some other
function reads: the function neither returns what it stores after the flag, nor enters anything
elsewhere by an import, `load...` or `register...`. `info` in a method of an `asyncio` protocol,
which a loop calls, and where the module itself comes first, while it is imported.
"""

from collections.abc import Iterator

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.events import Flow, Store
from plugin_utils.checker.import_time import is_filled_at_import
from plugin_utils.checker.model import Level
from plugin_utils.checker.rules.rule import Hit, Rule
from plugin_utils.checker.surroundings import is_called_by_loop
from plugin_utils.checker.too_soon import is_too_soon, is_waited_for

__all__ = ("RULE",)


def _check(analysis: Analysis) -> Iterator[Hit]:
    for flow in analysis.flows:
        for store in flow.stores:
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
    return Level.HIGH if is_waited_for(store, flow) else Level.MEDIUM


RULE = Rule("LS010", "Done-flag set before the work", "high or medium", __doc__ or "", _check)
