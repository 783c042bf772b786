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

High for a function of the process that can be called without arguments: its one object is the
process's. One that needs arguments is high if its name says that it opens something
(`get_client(name)`), or if what it returns is drawn at random, else medium. A method that is passed
its instance is medium, and so are a function inside another one and `cached_property`. There the
level does not depend on the Python that you run: a plugin does not choose its host's. Who calls the
function lowers the level as in `LS001`: a program, or coroutines alone.

A cached value is reported at level `info`; `LS001` tells what counts as one. A cache decorator by
another name is not seen, nor is `cache(build)` written as a call.
"""

import ast
from collections.abc import Iterator

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.builders import returned_by
from plugin_utils.checker.definitions import Function
from plugin_utils.checker.evidence import is_plain, limit_of
from plugin_utils.checker.makers import Makes, is_unique
from plugin_utils.checker.model import Level
from plugin_utils.checker.rules.rule import Hit, Rule
from plugin_utils.checker.words import is_open

__all__ = ("RULE",)

_CACHES = frozenset({"cache", "lru_cache", "cached_property"})


def _check(analysis: Analysis) -> Iterator[Hit]:
    for function in analysis.module.all_functions:
        cache = _cache_of(function)
        if cache:
            made = returned_by(function, analysis.module)
            message = (
                f"`{cache}` promises a coherent cache, not one call: two threads that come first"
                f" both run `{function.name}()`"
            )
            is_one = made is Makes.RESOURCE and not _is_plain(function, analysis)
            level = _level(function, cache) if is_one else Level.INFO
            level = level and min(level, limit_of(function, analysis))
            yield Hit(function.node, function, function.qualname, level, message)


def _is_plain(function: Function, analysis: Analysis) -> bool:
    """Tell whether the function gives back instances of a class without state."""
    returned = (n.value for n in function.own_nodes if isinstance(n, ast.Return))
    made = [value for value in returned if value and not isinstance(value, ast.Constant)]
    return all(is_plain(value, function, analysis.module) for value in made)


def _level(function: Function, cache: str) -> Level:
    """Return how sure it is that there should be one: without arguments, one for the process."""
    is_of_process = cache != "cached_property" and not function.outer
    is_of_instance = function.receiver != "" and not function.receives_class
    is_sure = not function.needs_arguments or (_leaks(function) and not is_of_instance)
    return Level.HIGH if is_of_process and is_sure else Level.MEDIUM


def _leaks(function: Function) -> bool:
    """Tell whether a second one is open as well, by its name, or can be told from the first."""
    returned = (n.value for n in function.own_nodes if isinstance(n, ast.Return) and n.value)
    return is_open(function.name) or any(map(is_unique, returned))


def _cache_of(function: Function) -> str:
    names = (d.rpartition(".")[2] for d in function.decorators)
    return next((name for name in names if name in _CACHES), "")


RULE = Rule("LS090", "Cache decorator around a resource", "high or medium", __doc__ or "", _check)
