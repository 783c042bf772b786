"""A class attribute is tested, built and stored, and no lock holds the three together.

## What it does

Reports the singleton that keeps its instance in a class attribute, in a class method or in
`__new__`, and takes no lock.

## Why it is bad

Two threads that come first both pass the test, so there are two instances. With `__new__`,
`__init__` then runs on each of them. What was registered on the loser is gone.

## Example

```python
class Registry:
    _instance = None

    def __new__(cls):
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance
```

## Use instead

```python
from plugin_utils import lazy_singleton


class Registry:
    def __init__(self):
        self.plugins = {}


@lazy_singleton
def registry():
    return Registry()


assert registry() is registry()
```

## Fix safety

Not rewritten: callers of the class would have to change.

## Known limits

A class attribute that holds a mere value is reported at level `info`. A singleton by `__new__` that
has a state is no value, even if it is called like one. Medium if the module makes the instance
itself, while it is imported, or if another module of the package does. `LS001` tells what counts as
a value, and what else lowers the level.

A metaclass that keeps instances in a dictionary is reported by `LS003`. Not seen: an attribute
whose name is computed, a base class of another module that fills the slot, and a decorator that
keeps the instance.
"""

from collections.abc import Iterator

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.rules.rule import Hit, Rule, built_twice, hit, level_of
from plugin_utils.checker.slots import Place

__all__ = ("RULE",)


def _check(analysis: Analysis) -> Iterator[Hit]:
    for site in analysis.unlocked_sites:
        if site.slot.place is Place.CLASS and not site.slot.is_item:
            message = built_twice(f"class attribute `{site.slot}`")
            yield hit(site, level_of(site, analysis), message, analysis)


RULE = Rule("LS002", "Class attribute built without a lock", "high", __doc__ or "", _check)
