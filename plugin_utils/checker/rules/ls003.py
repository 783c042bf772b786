"""A process-wide dictionary is used as a cache, and no lock holds test, build and store together.

## What it does

Reports `if key not in cache: cache[key] = build(key)` and its relatives (`cache.get(key)`,
`try: return cache[key]`, `if not box: box.append(build())`, `cache.setdefault(key, build())`) where
the container is a global or a class attribute.

## Why it is bad

The dictionary itself stays whole. But two threads that ask for one key at once both build, and the
second store replaces the object that the first caller already uses.

## Example

```python
import sqlite3

_connections = {}


def connection(path):
    if path not in _connections:
        _connections[path] = sqlite3.connect(path, check_same_thread=False)
    return _connections[path]
```

## Use instead

```python
import sqlite3
from concurrent.futures import ThreadPoolExecutor

from plugin_utils import KeyedSlots

_connections = KeyedSlots()


def connection(path):
    return _connections.get(path, _connect, path)


def _connect(path):
    return sqlite3.connect(path, check_same_thread=False)


with ThreadPoolExecutor(1) as other_thread:
    made = other_thread.submit(connection, ":memory:").result()
assert connection(":memory:") is made
assert made.execute("SELECT 1").fetchone() == (1,)  # made there, used here
```

The option is there because SQLite's connections otherwise refuse every thread but the one that made
them.

## Fix safety

Not rewritten: what the key has to be is your decision.

## Known limits

High if the loser holds something open, or can be told from the winner, and the function hands it
out. That is judged by the name of the slot (`_connections`), by what is called to build it
(`HttpSession()`, `open_...()`, `Model.load()`), by its class, if that has to be closed or holds
something that has to be, and by what is drawn at random (`uuid4()`, a part of `mkstemp()`). A
metaclass that keeps instances in its `__call__` is high, too: it says that one has to be enough.

Medium for everything else with an identity: its loser costs memory and time. Medium, too, if it is
not handed out, if a loop goes through all keys, and for an empty container that the same function
then adds to by `[...]`, `add` or `append`. `cache.setdefault(key, Client())` is medium: all callers
get one object, but the losers are built and dropped. It is reported only if they hold something
open, as the name has to say, and if the function does not go on to close its own
(`made.close()`).

`info` if it is a value, if the key contains the thread, the task or the loop that calls, or if the
function is a decorator that enters something into a table. `LS001` tells what counts as a value,
and what else lowers the level. That somebody fills one key at import says nothing about the others.

A container inside a container (`_by_host[host][port]`) has the keys of both. A metaclass that makes
singletons is at `info` if the package uses it for classes without a state only.

Not seen: a `defaultdict` whose factory builds, `update` with more than one key, `append` where no
test found the list empty, a cache class from elsewhere, and a container that came in as an
argument.
"""

import ast
from collections.abc import Iterator

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.builders import opens
from plugin_utils.checker.events import Flow, Store
from plugin_utils.checker.leaks import leaks
from plugin_utils.checker.makers import Makes
from plugin_utils.checker.model import Level
from plugin_utils.checker.rules.rule import Hit, Rule, built_twice, hit, level_of
from plugin_utils.checker.sites import Site, is_real
from plugin_utils.checker.syntax import dotted, last_name

__all__ = ("RULE",)

_CLOSES = frozenset("aclose close disconnect dispose quit shutdown stop terminate".split())


def _check(analysis: Analysis) -> Iterator[Hit]:
    for site in analysis.unlocked_sites:
        if site.slot.is_process_wide and site.slot.is_item:
            level = level_of(site, analysis)
            if not leaks(site, analysis.module) or _is_filled_in_bulk(site):
                level = min(level, Level.MEDIUM)
            message = built_twice(f"an item of `{site.slot}`")
            if level is Level.INFO and _is_empty(site.store.value) and _is_added_to(site):
                level = Level.MEDIUM
                message = (
                    f"an item of `{site.slot}` begins empty and is added to, without a lock: the"
                    " second store drops what was added to the first"
                )
            yield hit(site, level, message, analysis)
    for flow in analysis.flows:
        for store in flow.defaults:
            if _builds_each_time(store, flow, analysis) and not _is_closed(store.value, flow):
                message = (
                    f"`setdefault` keeps one item of `{store.slot}`, but every caller builds its"
                    " own first: the losers are dropped, and nobody closes them"
                )
                yield Hit(store.node, flow.function, str(store.slot), Level.MEDIUM, message)


def _is_empty(value: ast.expr) -> bool:
    match value:
        case ast.Dict(keys=[]) | ast.List(elts=[]):
            return True
        case ast.Call(func=ast.Name(id="dict" | "list" | "set"), args=[], keywords=[]):
            return True
        case _:
            return False


def _is_filled_in_bulk(site: Site) -> bool:
    """Tell whether a loop goes through all keys, as what sets up a program does."""
    loops = (node for node in site.function.own_nodes if isinstance(node, ast.For))
    names = {n.id for loop in loops for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
    return any(isinstance(key, ast.Name) and key.id in names for key in site.keys)


def _is_added_to(site: Site) -> bool:
    """Tell whether the function puts something into the item that it may have stored."""
    for node in site.function.own_nodes:
        match node:
            case (
                ast.Subscript(value=ast.Subscript(value=owner), ctx=ast.Store())
                | ast.Call(func=ast.Attribute(value=ast.Subscript(value=owner), attr="add"))
                | ast.Call(func=ast.Attribute(value=ast.Subscript(value=owner), attr="append"))
            ) if last_name(owner) == site.slot.name:
                return True
            case _:
                pass
    return False


def _is_closed(value: ast.expr, flow: Flow) -> bool:
    """Tell whether the function also closes what it handed over: `made.close()`."""
    calls = (node for node in flow.function.own_nodes if isinstance(node, ast.Call))
    closed = {f"{last_name(value)}.{name}" for name in _CLOSES}
    return any(dotted(call.func) in closed for call in calls)


def _builds_each_time(store: Store, flow: Flow, analysis: Analysis) -> bool:
    """Tell whether what is handed to `setdefault` was built for it, and holds something open."""
    return (
        store.slot.is_process_wide
        and not is_real(store.regions)
        and not flow.function.is_async
        and not analysis.is_sheltered(flow.function, store.slot)
        and analysis.makes(store, flow) is Makes.RESOURCE
        and opens(store.value, flow.function)
    )


RULE = Rule("LS003", "Cache filled without a lock", "high or medium", __doc__ or "", _check)
