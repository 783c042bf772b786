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
publishes `self` is not seen. A function that is passed the object counts if its name says that it
changes it (`update_from(path, options)`), and so does an item of an item (`table["a"]["b"] = 1`).
Work is looked for in the rest of the block, after the `with` that the block stands in, and after
the inner test of a double check. A call that those make, too, who find the object there is no part
of the build. In a coroutine only work that is awaited counts: between other statements no other
task runs.

A container of the process that is found empty and filled in a loop, or under one key after another,
is reported as well: the next caller finds it no longer empty, and not yet full. A logger is left
alone: whoever finds it finds the one that `logging` keeps.

Medium for an attribute of an instance, and for a module that was found by `find_spec`: few do by
hand what an import does. `info` for a container that the module itself fills first, while it is
imported. `LS001` tells what else lowers the level.
"""

import ast
from collections.abc import Callable, Iterator

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.conditions import State
from plugin_utils.checker.import_time import is_filled_at_import
from plugin_utils.checker.model import Level
from plugin_utils.checker.rules.rule import Hit, Rule, hit
from plugin_utils.checker.sites import Site, is_real
from plugin_utils.checker.syntax import last_line, last_name, wholes
from plugin_utils.checker.words import words_of

__all__ = ("RULE",)

# Calls on a fresh object that leave it as whole as it was.
_HARMLESS = frozenset("add_done_callback close debug error info join start warning".split())
# Hands out what its module keeps; whoever finds it there finds it the same.
_LOOKUPS = frozenset({"getLogger"})
_FINISHERS = frozenset({"exec_module"})
_FILLS = frozenset("""
    apply configure fill hydrate init initialise initialize load populate prepare restore setup
    update
    """.split())  # fmt: skip


def _check(analysis: Analysis) -> Iterator[Hit]:
    for site in analysis.sites:
        if _is_filled_bit_by_bit(site):
            message = (
                f"`{site.slot}` is filled bit by bit: a caller that finds it no longer empty goes"
                " on with a part of it"
            )
            at_import = is_filled_at_import(site.slot.container, site.flow, analysis)
            level = Level.INFO if at_import else Level.HIGH
            yield hit(site, level, message, analysis)
        elif _is_public(site, analysis) and _is_finished_later(site, analysis):
            message = (
                f"`{site.slot}` is stored before it is ready: a caller that finds it there uses it"
                " half-built"
            )
            is_sure = site.slot.is_process_wide and not _imports(site)
            level = Level.HIGH if is_sure else Level.MEDIUM
            yield hit(site, level, message, analysis)


def _imports(site: Site) -> bool:
    """Tell whether a module is stored that anybody could import: few do so by hand at once."""
    calls = (node for node in site.function.own_nodes if isinstance(node, ast.Call))
    return site.slot.owner == "sys" and "find_spec" in {last_name(c.func) for c in calls}


def _is_filled_bit_by_bit(site: Site) -> bool:
    """Tell whether a container of the process is tested for emptiness, and filled in a loop."""
    store = site.store
    tests = [t for t in store.own_tests if t.is_of_all and t.slot == store.slot.container]
    if site.function.is_async or not site.slot.is_process_wide or not tests:
        return False
    if not any(not is_real(test.read.regions & store.regions) for test in tests):
        return False
    loops = (n for n in site.function.own_nodes if isinstance(n, ast.For | ast.While))
    slots = {
        other.slot
        for other in site.flow.stores
        if other.slot.is_item and other.slot.container == store.slot.container and other.own_tests
    }
    if len(slots) > 1:
        return True
    return any(
        loop.lineno >= tests[-1].node.lineno and loop.lineno < store.node.lineno <= last_line(loop)
        for loop in loops
    )


def _is_public(site: Site, analysis: Analysis) -> bool:
    """Tell whether others can see the slot while it is being filled, and would mind."""
    if not any(test.slot == site.slot for test in site.store.own_tests):
        return False  # the readers look at a flag, which is set last
    if not site.is_seen_unlocked or not analysis.is_shared(site.slot):
        return False
    match site.store.value:
        case ast.Call(func=func) if last_name(func) in _LOOKUPS:
            return False
        case ast.BoolOp(values=[first, *_]):  # `x = x or {}` mostly stores what is there
            return site.is_resource or last_name(first) != site.slot.name
        case _:
            return True


def _is_finished_later(site: Site, analysis: Analysis) -> bool:
    state = State(site.function, analysis.module)

    def is_it(node: ast.expr) -> bool:
        return last_name(node) in site.local_names or state.slot(node) == site.slot

    later = [node for statement in site.store.rest for node in ast.walk(statement)]
    if site.function.is_async:  # other tasks run only where something is awaited
        later = [ast.Expr(node.value) for node in later if isinstance(node, ast.Await)]
    if site.slot.is_item and not site.is_resource and site.slot.owner != "sys":
        return any(_sets_attribute(node, is_it) for node in later)
    inside = set(later)
    before = {ast.dump(n) for n in site.function.own_nodes if _is_call(n) and n not in inside}
    # What those do, too, who find the object there is work with it, and no part of the build.
    return any(_finishes(n, is_it) and ast.dump(n) not in before for n in later)


def _is_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def _finishes(node: ast.AST, is_it: Callable[[ast.expr], bool]) -> bool:
    """Tell whether `node` still changes the object: sets a part of it, or calls it for effect."""
    match node:
        case ast.Subscript(value=value, ctx=ast.Store()):
            return any(map(is_it, wholes(value)))
        case ast.Assign(targets=[target], value=value) if is_it(target):
            return any(isinstance(part, ast.expr) and is_it(part) for part in ast.walk(value))
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=value, attr=name), args=args)) if (
            is_it(value)
        ):
            return name not in _HARMLESS
        case ast.Expr(value=ast.Call(func=func, args=args)):
            return _fills(last_name(func)) and any(map(is_it, args))
        case _:
            return _sets_attribute(node, is_it)


def _sets_attribute(node: ast.AST, is_it: Callable[[ast.expr], bool]) -> bool:
    match node:
        case ast.Attribute(value=value, ctx=ast.Store()):
            return is_it(value)
        case ast.Call(func=ast.Name(id="setattr"), args=[value, _, _]):
            return is_it(value)
        case _:
            return False


def _fills(name: str) -> bool:
    """Tell whether a function by this name changes what it is passed."""
    return name in _FINISHERS or not _FILLS.isdisjoint(words_of(name)[:1])


RULE = Rule("LS021", "Published before it is ready", "high", __doc__ or "", _check)
