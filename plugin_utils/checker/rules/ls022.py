"""`__new__` takes a lock, and `__init__` runs after it without one.

## What it does

Reports the first unlocked store of `__init__` in a class whose `__new__` is a correctly locked
singleton.

## Why it is bad

Python calls `__init__` after `__new__` on every call of the class, on the one instance, outside
the lock. A flag in `__init__` that says "initialised" is one more race: set first, it lets a
second caller use half an object; set last, two callers initialise.

## Example

```python
import threading


class Meter:
    _instance = None
    _lock = threading.Lock()

    def __new__(cls):
        if cls._instance is None:
            with cls._lock:
                if cls._instance is None:
                    cls._instance = super().__new__(cls)
        return cls._instance

    def __init__(self):
        if getattr(self, "_initialized", False):
            return
        self._initialized = True
        self.samples = []
```

## Use instead

```python
from plugin_utils import lazy_singleton


class Meter:
    def __init__(self):
        self.samples = []


@lazy_singleton
def meter():
    return Meter()


assert meter() is meter()
```

## Fix safety

Not rewritten: callers of the class would have to change.

## Known limits

An `__init__` that takes a lock is reported if it looks at an attribute without it, and goes on with
its work after it has set that attribute. A flag that is set last, under the lock, is right. A lock
that `__init__` makes only if there is none is a spare, and no work. An `__init__` that is inherited
is not seen, nor is a metaclass that keeps `__init__` from running.

Medium if the module makes the instance itself, while it is imported, or if another module of the
package does: mostly that comes first.
"""

import ast
from collections.abc import Iterator

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.events import Flow, Store
from plugin_utils.checker.import_time import is_made_at_import
from plugin_utils.checker.model import Level
from plugin_utils.checker.rules.rule import Hit, Rule
from plugin_utils.checker.sites import is_real
from plugin_utils.checker.slots import Place
from plugin_utils.checker.syntax import last_name, makes_lock

__all__ = ("RULE",)


def _check(analysis: Analysis) -> Iterator[Hit]:
    for site in analysis.sites:
        owner = site.function.owner
        if site.function.name != "__new__" or not site.is_locked or owner is None:
            continue
        init = owner.methods.get("__init__")
        first = _first_bad(analysis.flow_of(init)) if init is not None else None
        if init is not None and first is not None:
            message = (
                f"`{owner.name}.__new__` takes a lock, but `__init__` runs after it without one, on"
                " every call: two threads initialise the one instance at once"
            )
            level = Level.MEDIUM if is_made_at_import(site, analysis) else Level.HIGH
            yield Hit(first.node, init, str(first.slot), level, message)


def _first_bad(flow: Flow) -> Store | None:
    return _first_unlocked(flow) or _first_too_soon(flow)


def _first_too_soon(flow: Flow) -> Store | None:
    """Return the attribute that `__init__` sets under the lock, and goes on with its work.

    A caller that looks at it without the lock takes the instance for ready.
    """
    for store in flow.stores:
        own = (test for test in store.own_tests if test.slot == store.slot)
        seen = [test for test in own if not is_real(test.read.regions & store.regions)]
        if seen and any(_works_on(node, flow.function.receiver) for node in store.rest):
            return store
    return None


def _works_on(statement: ast.stmt, receiver: str) -> bool:
    """Tell whether `statement` sets an attribute of the instance, or calls one of its methods."""
    match statement:
        case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
            return isinstance(target, ast.Attribute) and last_name(target.value) == receiver
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
            return name == receiver
        case _:
            return False


def _first_unlocked(flow: Flow) -> Store | None:
    """Return the first attribute that `__init__` sets while no lock is held."""
    stores = (store for store in flow.stores if not is_real(store.regions))
    return next((store for store in stores if _is_work(store)), None)


def _is_work(store: Store) -> bool:
    """Tell whether `store` sets an attribute, and not the lock that `__new__` makes as a rule."""
    is_spare_lock = store.own_tests and makes_lock(store.value)
    return store.slot.place is Place.INSTANCE and not is_spare_lock


RULE = Rule("LS022", "`__new__` guarded, `__init__` not", "high", __doc__ or "", _check)
