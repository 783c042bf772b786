"""A cache decorator stands around the building of a resource.

## What it does

Reports `functools.cache`, `functools.lru_cache` and `functools.cached_property` on a function that
gives back a thing with an identity.

## Why it is bad

They promise that the cache stays whole, not that the function runs once. Threads that come first
all run it, and keep different objects. `cached_property` held a lock up to Python 3.11 and holds
none since 3.12.

## Example

```python
from concurrent.futures import ThreadPoolExecutor
from functools import cache


@cache
def pool():
    return ThreadPoolExecutor(max_workers=4)
```

## Use instead

```python
from concurrent.futures import ThreadPoolExecutor

from plugin_utils import lazy_singleton


@lazy_singleton
def pool():
    return ThreadPoolExecutor(max_workers=4)


assert pool() is pool()
```

## Fix safety

Not rewritten: callers may use `cache_clear` and the like.

## Known limits

High if the loser holds something open, as the function's name says (`get_client(name)`), or can be
told from the winner because it is drawn at random. A function that can be called without arguments
is high, too, if what it calls is called so (`return open_session()`), or if the class of what it
gives back has to be closed or holds something that has to be.

Medium for everything else with an identity: most of what a decorator caches only costs time. A
method that is passed its instance is medium, and so are a function inside another one and
`cached_property`. There the level does not depend on the Python that you run: a plugin does not
choose its host's. Who calls the function lowers the level as in `LS001`: a program, or coroutines
alone.

A cached value is reported at level `info`; `LS001` tells what counts as one. A cache decorator
from elsewhere than `functools` is not seen, nor is `cache(build)` written as a call.
"""

import ast
from collections.abc import Iterator

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.builders import returned_by
from plugin_utils.checker.definitions import Function
from plugin_utils.checker.evidence import is_plain, limit_of
from plugin_utils.checker.leaks import leaks_as
from plugin_utils.checker.makers import Makes, is_unique
from plugin_utils.checker.model import Level
from plugin_utils.checker.module import Module
from plugin_utils.checker.rules.rule import Hit, Rule
from plugin_utils.checker.words import is_open

__all__ = ("RULE",)

_CACHES = frozenset({"cache", "lru_cache", "cached_property"})


def _check(analysis: Analysis) -> Iterator[Hit]:
    for function in analysis.module.all_functions:
        cache = _cache_of(function, analysis.module)
        if cache:
            made = returned_by(function, analysis.module)
            message = (
                f"`{cache}` promises a coherent cache, not one call: two threads that come first"
                f" both run `{function.name}()`"
            )
            is_one = made is Makes.RESOURCE and not _is_plain(function, analysis)
            level = _level(function, cache, analysis.module) if is_one else Level.INFO
            level = level and min(level, limit_of(function, analysis))
            if analysis.is_called_under_lock(function):
                level = Level.INFO
            yield Hit(function.node, function, function.qualname, level, message)


def _is_plain(function: Function, analysis: Analysis) -> bool:
    """Tell whether the function gives back instances of a class without state."""
    made = [value for value in _returned_by(function) if not isinstance(value, ast.Constant)]
    return all(is_plain(value, function, analysis.module) for value in made)


def _level(function: Function, cache: str, module: Module) -> Level:
    """Return how much it matters that there are two: most if the loser holds something open."""
    is_of_process = cache != "cached_property" and not function.outer
    is_of_instance = function.receiver != "" and not function.receives_class
    if not is_of_process or is_of_instance:
        return Level.MEDIUM
    return Level.HIGH if _leaks(function, module) else Level.MEDIUM


def _leaks(function: Function, module: Module) -> bool:
    """Tell whether a second object is open, too, or told from the first.

    If there is an object for each argument, then only what the function is called counts.
    """
    returned = _returned_by(function)
    if is_open(function.name) or any(map(is_unique, returned)):
        return True
    is_one = not function.needs_arguments
    return is_one and any(leaks_as(value, function, module) for value in returned)


def _returned_by(function: Function) -> list[ast.expr]:
    returned = (node.value for node in function.own_nodes if isinstance(node, ast.Return))
    return [value for value in returned if value]


def _cache_of(function: Function, module: Module) -> str:
    full = (module.imports.get(name, name) for name in function.decorators)
    names = (name.rpartition(".")[2] for name in full)
    return next((name for name in names if name in _CACHES), "")


RULE = Rule("LS090", "Cache decorator around a resource", "high or medium", __doc__ or "", _check)
