"""A flag keeps work from being done twice, but is tested and set without a lock.

## What it does

Reports a flag of the process that a function tests, and sets when it has done something that adds
up: started a thread, added a handler to a logger, wrapped a function of another library.

## Why it is bad

Two threads that come first both find the flag unset. Both do the work. Two threads then run, each
line is logged twice, and each call goes through the wrapper twice. None of it can be undone by the
caller who came second.

## Example

```python
import logging

_ready = False


def prepare():
    global _ready
    if not _ready:
        logging.getLogger("plugin").addHandler(logging.StreamHandler())
        _ready = True
```

## Use instead

```python
import logging

from plugin_utils import lazy_singleton


@lazy_singleton
def handler():
    made = logging.StreamHandler()
    logging.getLogger("plugin").addHandler(made)
    return made


assert handler() is handler()
```

## Fix safety

Not rewritten: what the work leaves behind is for you to say.

## Known limits

Work that adds up is: `start()` without arguments, `addHandler`, `add_span_processor`, `instrument`,
`wrap_function_wrapper`, and an attribute that is replaced by a call which is passed what stood
there before (`Session.send = traced(Session.send)`, also by `setattr` or by way of a local). The
flag is `True`, or a global that gets its value after the work.

Medium for a call by the name of `init...`, `install...` or `register...`: some refuse a second one,
but most tables take the same entry twice and keep one.

A flag that is set before the work is a matter for `LS010`. Flags of an instance are not looked at,
nor are events, nor the list of handlers itself.

`LS001` tells what lowers the level: a program or a test, a module of the package that comes first.
"""

import ast
from collections.abc import Iterator

from plugin_utils.checker.adding import adds_up, kept_in, may_add_up
from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.events import Flow, Store
from plugin_utils.checker.makers import Makes
from plugin_utils.checker.model import Level
from plugin_utils.checker.rules.rule import Hit, Rule, hit
from plugin_utils.checker.sites import Site
from plugin_utils.checker.slots import Place

__all__ = ("RULE",)


def _check(analysis: Analysis) -> Iterator[Hit]:
    for flow in analysis.flows:
        for store in flow.stores:
            site = Site(store, flow, Makes.FLAG)
            if not _can_run_twice(site, analysis):
                continue
            done = _done_between(store, flow)
            kept = kept_in(flow.function.own_nodes)
            is_sure = any(adds_up(node, kept) for node in done)
            if is_sure or any(map(may_add_up, done)):
                level = Level.HIGH if is_sure else Level.MEDIUM
                guard = "and not tested again under the lock" if site.has_lock else "without a lock"
                message = (
                    f"`{store.slot}` is set after work that adds up, {guard}: two threads can do it"
                    " twice"
                )
                yield hit(site, level, message, analysis)


def _can_run_twice(site: Site, analysis: Analysis) -> bool:
    store = site.store
    return (
        bool(store.own_tests)
        and store.slot.is_process_wide
        and _is_sign(store)
        and not site.is_locked
        and not site.function.is_async
        and not analysis.is_sheltered(site.function, store.slot)
    )


def _is_sign(store: Store) -> bool:
    """Tell whether `store` says that work is done: a flag, or a value that comes after it."""
    if isinstance(store.value, ast.Constant):
        return store.value.value is True
    return store.slot.place is Place.GLOBAL and not store.slot.is_item


def _done_between(store: Store, flow: Flow) -> list[ast.AST]:
    """Return what stands between the first test and the store, in no order."""
    first = min(test.node.lineno for test in store.own_tests)
    lines = range(first, store.node.lineno + 1)
    return [node for node in flow.function.own_nodes if getattr(node, "lineno", 0) in lines]


RULE = Rule("LS011", "Done twice: a flag without a lock", "high", __doc__ or "", _check)
