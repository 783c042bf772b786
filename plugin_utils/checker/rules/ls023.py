"""The lock is made by the very call that takes it.

## What it does

Reports `with threading.Lock():`, and a lock in a local that is used for nothing but its `with`.
Reports, too, that a lock which `__init__` makes for its own instance guards what all instances
share: a global, or an attribute of the class.

## Why it is bad

Each call has its own lock, so no call ever waits for another. The code is as racy as without it.
With a lock for each instance, two instances do not wait for each other.

## Example

```python
import threading

_models = {}


def model(name):
    with threading.Lock():
        if name not in _models:
            _models[name] = object()
    return _models[name]
```

## Use instead

```python
from plugin_utils import KeyedSlots

_models = KeyedSlots()


def model(name):
    return _models.get(name, object)


assert model("a") is model("a")
```

## Fix safety

Not rewritten: what the lock is meant to guard, and so where it has to live, is not in the code.

## Known limits

A local lock that is passed on, stored or used by a nested function is left alone, and so is one
that is made of a file, a key or another lock (`Lock(path)`): it is the same for all who pass that.
Reported at the store that the lock should have guarded, or at the `with` if there is none.

A lock of each instance is reported at level `medium`. At `info` if a value is built, or if the
module keeps one instance under a name of its own. Left alone if the class has a `__new__` or a
metaclass.
"""

import ast
from collections.abc import Iterator

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.events import Flow, Region, Store
from plugin_utils.checker.model import Level
from plugin_utils.checker.rules.rule import Hit, Rule, hit
from plugin_utils.checker.sites import Site

__all__ = ("RULE",)


def _check(analysis: Analysis) -> Iterator[Hit]:
    message = (
        "this lock is made by the call that takes it: no other thread can hold it, so it guards"
        " nothing"
    )
    for flow in analysis.flows:
        for region in flow.regions:
            if region.is_new and _is_only_here(region, flow):
                store = _first_inside(region, flow)
                node = store.node if store is not None else region.lock
                name = str(store.slot) if store is not None else ast.unparse(region.lock)
                yield Hit(node, flow.function, name, Level.HIGH, message)
    for site in analysis.sites:
        if site.is_locked_by_instance and not site.function.is_async:
            message = (
                f"`{site.slot}` is shared by all instances, but its lock is made by each of them:"
                " two instances can build it at once"
            )
            yield hit(site, _level_of(site, analysis), message, analysis)


def _level_of(site: Site, analysis: Analysis) -> Level:
    owner = site.function.owner
    if not site.is_resource or (owner is not None and analysis.is_made_at_import(owner)):
        return Level.INFO
    return Level.MEDIUM


def _first_inside(region: Region, flow: Flow) -> Store | None:
    return next((s for s in flow.stores if region in s.regions and s.own_tests), None)


def _is_only_here(region: Region, flow: Flow) -> bool:
    """Tell whether the lock is used for nothing else: not kept, not passed on, not closed over."""
    if not isinstance(region.lock, ast.Name):
        return True
    name = region.lock.id
    uses = [n for n in ast.walk(flow.function.node) if isinstance(n, ast.Name) and n.id == name]
    taken = sum(isinstance(r.lock, ast.Name) and r.lock.id == name for r in flow.regions)
    return len(uses) == taken + 1


RULE = Rule("LS023", "A new lock for every call", "high", __doc__ or "", _check)
