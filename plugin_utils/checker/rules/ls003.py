"""A process-wide dictionary is used as a cache, and no lock holds test, build and store together.

## What it does

Reports `if key not in cache: cache[key] = build(key)` and its relatives (`cache.get(key)`,
`try: return cache[key]`) where the dictionary is a global or a class attribute.

## Why it is bad

The dictionary itself stays whole. But two threads that ask for one key at once both build, and the
second store replaces the object that the first caller already uses.

## Example

```python
import sqlite3

_connections = {}


def connection(path):
    if path not in _connections:
        _connections[path] = sqlite3.connect(path)
    return _connections[path]
```

## Use instead

```python
import sqlite3

from plugin_utils import KeyedSlots

_connections = KeyedSlots()


def connection(path):
    return _connections.get(path, sqlite3.connect, path)


assert connection(":memory:") is connection(":memory:")
```

## Fix safety

Not rewritten: what the key has to be is your decision.

## Known limits

High if what is built has an identity and the function hands it out, medium if it does not hand it
out, `info` if it is a value. `cache.setdefault(key, build())` is not reported: all callers get one
object, though the losers are built and dropped.
"""

from collections.abc import Iterator

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.rules.rule import Hit, Rule, hit, level_of

__all__ = ("RULE",)


def _check(analysis: Analysis) -> Iterator[Hit]:
    for site in analysis.unlocked_sites:
        if site.slot.is_process_wide and site.slot.is_item:
            yield hit(
                site,
                level_of(site),
                f"a key of `{site.slot}` is tested, built and stored without a lock:"
                " two threads can build it twice",
            )


RULE = Rule("LS003", "Cache filled without a lock", "high or medium", __doc__ or "", _check)
