"""The lock is made on first use, without a lock.

## What it does

Reports a `threading` lock that is itself a lazy singleton: tested, made and stored unguarded, in
a global, a class, an instance or a dictionary of locks. Also what is built under the lock that such
a function hands out: `with get_lock():`.

## Why it is bad

Two threads that come first make a lock each. Both get "the lock", and both get in.

## Example

```python
import threading

_locks = {}


def lock_for(name):
    if name not in _locks:
        _locks[name] = threading.Lock()
    return _locks[name]
```

## Use instead

A lock is cheap: make it at import or in `__init__`. One for each key comes out of `setdefault`,
which gives all callers the same one:

```python
import threading

_locks = {}


def lock_for(name):
    return _locks.setdefault(name, threading.Lock())


assert lock_for("a") is lock_for("a")
```

## Fix safety

Not rewritten.

## Known limits

What a call gives is taken for a lock if its slot is called like one (`_push_mutex = allocate()`).
Locks of `asyncio` are left alone: on one loop nothing runs between the test and the store. So is
a fallback for a lock that `__init__` makes too. What is built under a lazily made lock is reported
if a function of the same module makes that lock, and takes none itself. A lock that is made where a
table holds none (`_locks.get(name) or Lock()`) is not seen.
"""

from collections.abc import Iterator

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.makers import Makes
from plugin_utils.checker.model import Level
from plugin_utils.checker.rules.rule import Hit, Rule, hit, level_of
from plugin_utils.checker.sites import Site
from plugin_utils.checker.slots import Place

__all__ = ("RULE",)


def _check(analysis: Analysis) -> Iterator[Hit]:
    for site in analysis.sites:
        if site.makes is Makes.LOCK and not site.is_locked and not _is_fallback(site):
            message = (
                f"the lock `{site.slot}` is made on first use: two threads can make one each, and"
                " then exclude nobody"
            )
            yield hit(site, Level.HIGH, message, analysis)
        elif not site.is_locked and any(region.is_lazy for region in site.store.regions):
            message = (
                f"`{site.slot}` is guarded by a lock that is made on first use: two threads can"
                " hold one each, and both build"
            )
            yield hit(site, level_of(site, analysis), message, analysis)


def _is_fallback(site: Site) -> bool:
    """Tell whether `__init__` makes the lock too, so that this store only serves odd objects."""
    owner = site.function.owner
    if site.slot.place is not Place.INSTANCE or site.slot.is_item or owner is None:
        return False
    return site.slot.name in owner.set_by_init


RULE = Rule("LS030", "The lock itself is built lazily", "high", __doc__ or "", _check)
