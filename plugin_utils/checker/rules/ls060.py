"""An instance that threads share builds one of its attributes on first use, without a lock.

## What it does

Reports a lazily built attribute where the source shows that more than one thread sees the
instance: the class owns a lock, hands one of its methods to a thread or an executor, or is
instantiated at module level.

## Why it is bad

It is the race of `LS001`, once for each instance: a writer thread and a reader thread build a
client each, and one of the two is never closed.

## Example

```python
import sqlite3
import threading


class Store:
    def __init__(self):
        self._lock = threading.Lock()
        self._connection = None

    def connection(self):
        if self._connection is None:
            self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        return self._connection
```

## Use instead

```python
import sqlite3
from concurrent.futures import ThreadPoolExecutor

from plugin_utils import SingletonSlot


class Store:
    def __init__(self):
        self._connection = SingletonSlot()

    def connection(self):
        return self._connection.get(self._connect)

    def _connect(self):
        return sqlite3.connect(":memory:", check_same_thread=False)


store = Store()
with ThreadPoolExecutor(1) as other_thread:
    made = other_thread.submit(store.connection).result()
assert store.connection() is made
assert made.execute("SELECT 1").fetchone() == (1,)  # made there, used here
```

## Fix safety

Not rewritten: methods never are.

## Known limits

Without such evidence nothing is reported, however the instance is used elsewhere: in another
module, in a subclass, by a framework that calls its methods from threads of its own.
"""

from collections.abc import Iterator

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.model import Level
from plugin_utils.checker.rules.rule import Hit, Rule, hit
from plugin_utils.checker.slots import Place

__all__ = ("RULE",)


def _check(analysis: Analysis) -> Iterator[Hit]:
    for site in analysis.unlocked_sites:
        if site.slot.place is Place.INSTANCE and analysis.is_shared(site.slot):
            level = Level.MEDIUM if site.is_resource and site.is_handed_out else Level.INFO
            message = (
                f"`{site.slot}` is built on first use without a lock, and the instance is shared"
                " between threads: two of them can build it"
            )
            yield hit(site, level, message, analysis)


RULE = Rule("LS060", "Attribute of a shared instance", "medium", __doc__ or "", _check)
