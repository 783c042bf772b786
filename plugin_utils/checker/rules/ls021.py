"""An object is put into its slot before it is ready.

## What it does

Reports a store that is followed, in the same block, by more work on the object: attributes that
are set, items that are added, methods that are called for their effect. Also a module that is put
into `sys.modules` and executed afterwards.

## Why it is bad

The fast path takes no lock. It finds the object in the slot and hands it out while the builder is
still at work on it: an `AttributeError`, or a registry that is empty.

## Example

```python
import threading


class Bus:
    _instance = None
    _lock = threading.Lock()

    @classmethod
    def get(cls):
        if cls._instance is None:
            with cls._lock:
                if cls._instance is None:
                    cls._instance = cls()
                    cls._instance.connect()
        return cls._instance

    def connect(self):
        self.handlers = {}
```

## Use instead

Build in a local, publish last. A factory does that by its shape: what it returns is ready.

```python
from plugin_utils import lazy_singleton


class Bus:
    def connect(self):
        self.handlers = {}


@lazy_singleton
def bus():
    made = Bus()
    made.connect()
    return made


assert bus().handlers == {}
```

## Fix safety

Not rewritten: what belongs to the initialisation is for you to say. Nor does the fix of `LS001`
touch an accessor that goes on with its object after the store.

## Known limits

`start()`, `close()` and the methods of loggers do not count as initialisation. A constructor that
publishes `self` is not seen, nor is a function that is passed the object to finish it. Coroutines
are left alone: no other task runs between two statements.
"""

import ast
from collections.abc import Callable, Iterator

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.conditions import State
from plugin_utils.checker.model import Level
from plugin_utils.checker.rules.rule import Hit, Rule, hit
from plugin_utils.checker.sites import Site
from plugin_utils.checker.syntax import last_name

__all__ = ("RULE",)

# Calls on a fresh object that leave it as whole as it was.
_HARMLESS = frozenset("add_done_callback close debug error info join start warning".split())
_FINISHERS = frozenset({"exec_module"})


def _check(analysis: Analysis) -> Iterator[Hit]:
    for site in analysis.sites:
        if _is_public(site, analysis) and _is_finished_later(site, analysis):
            message = (
                f"`{site.slot}` is stored before it is ready: a caller that finds it there uses it"
                " half-built"
            )
            yield hit(site, Level.HIGH, message)


def _is_public(site: Site, analysis: Analysis) -> bool:
    """Tell whether others can see the slot while it is being filled, and would mind."""
    if not any(test.slot == site.slot for test in site.store.own_tests):
        return False  # the readers look at a flag, which is set last
    if site.function.is_async or not site.is_seen_unlocked or not analysis.is_shared(site.slot):
        return False
    if isinstance(site.store.value, ast.BoolOp):  # `x = x or {}` mostly stores what is there
        return site.is_resource
    return site.is_resource or not site.slot.is_item or site.slot.owner == "sys"


def _is_finished_later(site: Site, analysis: Analysis) -> bool:
    state = State(site.function, analysis.module)

    def is_it(node: ast.expr) -> bool:
        return last_name(node) in site.local_names or state.slot(node) == site.slot

    later = (node for statement in site.store.rest for node in ast.walk(statement))
    return any(_finishes(node, is_it) for node in later)


def _finishes(node: ast.AST, is_it: Callable[[ast.expr], bool]) -> bool:
    """Tell whether `node` still changes the object: sets a part of it, or calls it for effect."""
    match node:
        case ast.Attribute(value=value, ctx=ast.Store()):
            return is_it(value)
        case ast.Subscript(value=value, ctx=ast.Store()):
            return is_it(value)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=value, attr=name), args=args)):
            passed = name in _FINISHERS and any(map(is_it, args))
            return passed or (name not in _HARMLESS and is_it(value))
        case _:
            return False


RULE = Rule("LS021", "Published before it is ready", "high", __doc__ or "", _check)
