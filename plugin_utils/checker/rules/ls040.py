"""An `await` stands between the test of a slot and the store.

## What it does

Reports a coroutine that finds a slot empty, awaits, and then stores what it built, without a lock
around test and store.

## Why it is bad

An `await` lets other tasks run. Each that comes before the store finds the slot empty and builds
too. A single thread is enough for this race.

## Example

```python
import asyncio

_session = None


async def session():
    global _session
    if _session is None:
        _session = await open_session()
    return _session


async def open_session():
    await asyncio.sleep(0)
    return object()
```

## Use instead

```python
import asyncio

from plugin_utils import aio


@aio.lazy_singleton
async def session():
    await asyncio.sleep(0)
    return object()


async def main():
    first, second = await asyncio.gather(session(), session())
    assert first is second


asyncio.run(main())
```

## Fix safety

Not rewritten: a lock of one loop does not serve another, and that choice is yours.

## Known limits

High for what has an identity and is handed out, medium if it is not handed out, `info` for a value.
Medium for an attribute of an instance: most of these belong to one request or one task.

A coroutine that does not await before it stores is safe on one loop: level `info`. That a lock of
`threading` would stop the whole loop is not said, and a generator that yields between test and
store is taken for a function.
"""

from collections.abc import Iterator

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.model import Level
from plugin_utils.checker.rules.rule import Hit, Rule, hit, level_of

__all__ = ("RULE",)


def _check(analysis: Analysis) -> Iterator[Hit]:
    for site in analysis.sites:
        if not site.function.is_async or site.is_locked:
            continue
        if site.is_split:
            message = (
                f"between the test and the store of `{site.slot}` an `await` lets other tasks run:"
                " each of them builds its own"
            )
            level = level_of(site, analysis)
            if not site.slot.is_process_wide:
                level = min(level, Level.MEDIUM)
            yield hit(site, level, message, analysis)
        else:
            message = (
                f"`{site.slot}` is built in a coroutine: safe on one loop, not between threads"
            )
            yield hit(site, Level.INFO, message, analysis)


RULE = Rule("LS040", "`await` between test and store", "high or medium", __doc__ or "", _check)
