"""The lock is released between the test and the store, and nobody looks again.

## What it does

Reports a test under a lock and a store under a lock that are not one stretch of holding it, and
a store under a lock whose only test was made before the lock was taken.

Reports, too, that two functions build one slot, each under a lock of its own.

## Why it is bad

Each thread tests in its turn, each builds, and the second store throws away what the first caller
already uses. The lock makes the code look safe.

## Example

```python
import sqlite3
import threading

_lock = threading.Lock()
_rooms = {}


def room(name):
    with _lock:
        if name in _rooms:
            return _rooms[name]
    made = sqlite3.connect(":memory:", check_same_thread=False)
    with _lock:
        _rooms[name] = made
    return made
```

## Use instead

One build for each key, other keys not kept waiting:

```python
import sqlite3
from concurrent.futures import ThreadPoolExecutor

from plugin_utils import KeyedSlots

_rooms = KeyedSlots()


def room(name):
    return _rooms.get(name, _open_room)


def _open_room():
    return sqlite3.connect(":memory:", check_same_thread=False)


with ThreadPoolExecutor(1) as other_thread:
    made = other_thread.submit(room, "a").result()
assert room("a") is made
assert made.execute("SELECT 1").fetchone() == (1,)  # made there, used here
```

## Fix safety

Not rewritten. If two builds are fine and only one object may survive, test again under the second
lock, close the loser and return the winner.

## Known limits

Reported at level `info` if what is built is a value. Code that waits for another thread's build
(`building.wait()`, `future.result()`) is left alone: who builds was decided under the lock. Locks
are told apart by where they are taken, and in two functions by their names, if the module makes
them. A lock with an unusual name is seen as one if the module makes it, imports it from a module
beside it, annotates it as one, or holds it in a context manager of its own. One that a decorator
takes is seen if the decorator is defined in the module, or its name says so (`@synchronized`).
"""

import ast
from collections.abc import Iterator

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.definitions import Function
from plugin_utils.checker.model import Level
from plugin_utils.checker.rules.rule import Hit, Rule, hit
from plugin_utils.checker.sites import Site
from plugin_utils.checker.slots import Slot
from plugin_utils.checker.syntax import dotted, last_name

__all__ = ("RULE",)

_WAITS = frozenset({"result", "wait", "wait_for"})


def _check(analysis: Analysis) -> Iterator[Hit]:
    for site in analysis.sites:
        is_split = site.has_lock and not site.is_locked and not site.is_locked_by_instance
        if is_split and not site.function.is_async and not _waits(site.function):
            message = (
                f"`{site.slot}` is tested and stored under a lock that is not held in between:"
                " two threads can build it, and the second store wins"
            )
            yield hit(site, Level.HIGH if site.is_resource else Level.INFO, message, analysis)
    for site, other in _under_other_locks(analysis):
        [lock], [other_lock] = site.locks, other.locks
        message = (
            f"`{site.slot}` is built under `{lock}` here, and under `{other_lock}` in"
            f" `{other.function.name}()`: two threads can build it, each under its own lock"
        )
        yield hit(site, Level.HIGH if site.is_resource else Level.INFO, message, analysis)


def _waits(function: Function) -> bool:
    """Tell whether the function can wait for somebody else's build instead: `building.wait()`."""
    called = (node.func for node in function.own_nodes if isinstance(node, ast.Call))
    return any(
        isinstance(func, ast.Attribute) and func.attr in _WAITS and bool(dotted(func))
        for func in called
    )


def _under_other_locks(analysis: Analysis) -> Iterator[tuple[Site, Site]]:
    """Yield the sites of the process that hold another lock than the first one of their slot."""
    first: dict[Slot, Site] = {}
    for site in analysis.sites:
        if site.slot.is_process_wide and len(site.locks) == 1:
            other = first.setdefault(site.slot, site)
            made, other_made = (_made(one, analysis) for one in (site, other))
            if made is not other_made and None not in {made, other_made}:
                yield site, other


def _made(site: Site, analysis: Analysis) -> ast.expr | None:
    """Return what makes the lock of `site`, if the module does; a condition may share another's."""
    [name] = site.locks
    value = analysis.module.bindings.get(name)
    is_own = isinstance(value, ast.Call) and last_name(value.func) in {"Lock", "RLock"}
    return value if is_own else None


RULE = Rule("LS020", "Lock released between test and store", "high", __doc__ or "", _check)
