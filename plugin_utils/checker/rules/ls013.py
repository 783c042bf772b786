"""A fast path tests a slot and then reads it again, while a reset can empty it in between.

## What it does

Reports an accessor that looks at the slot twice without a lock, once to test it and once to return
it, if another function of the module empties that slot.

## Why it is bad

The reset comes between the two looks. The test saw an object, the return gives `None`, and the
caller fails far away with an error about `NoneType`.

## Example

```python
import threading

_lock = threading.Lock()
_session = None


def session():
    global _session
    if _session is None:
        with _lock:
            if _session is None:
                _session = object()
    return _session


def close_session():
    global _session
    with _lock:
        _session = None
```

## Use instead

Read the slot once, into a local, or leave it to a slot that does:

```python
from plugin_utils import lazy_singleton


@lazy_singleton
def session():
    return object()


session()
assert session.reset()
```

## Fix safety

Not rewritten.

## Known limits

A reset in another module, or in a test, is not seen, nor is one by `setattr` with a computed name.
If the build itself is racy, only that is reported: it is the worse of the two.
"""

from collections.abc import Iterator

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.model import Level
from plugin_utils.checker.rules.rule import Hit, Rule, hit
from plugin_utils.checker.sites import Site

__all__ = ("RULE",)


def _check(analysis: Analysis) -> Iterator[Hit]:
    for site in analysis.sites:
        if not _reads_twice(site) or not analysis.is_shared(site.slot):
            continue
        reset = analysis.reset_of(site.slot, site.flow)
        if reset is not None and (site.is_locked or not site.is_resource):
            message = (
                f"`{site.slot}` is tested and then read again, and `{reset.name}()` can empty it in"
                " between: read it once, into a local"
            )
            yield hit(site, Level.MEDIUM, message, analysis)


def _reads_twice(site: Site) -> bool:
    """Tell whether the accessor returns a second, unlocked look at the slot."""
    if site.function.is_async:
        return False
    reads = [found.read for found in site.flow.returns if found.read is not None]
    return any(
        read.slot == site.slot and not read.is_alias and not read.regions for read in reads
    ) and any(
        test.slot == site.slot and not test.read.regions and not test.read.is_alias
        for test in site.flow.tests
    )


RULE = Rule("LS013", "Tested, then read again", "medium", __doc__ or "", _check)
