"""A module's global is tested, built and stored, and no lock holds the three together.

## What it does

Reports a function that finds a global (or the attribute of another module) empty, builds something
with an identity, and stores it, while nothing keeps a second thread out between the test and the
store.

## Why it is bad

Two threads that come first both find the slot empty. Both build. One object wins, the other is
lost with its connection still open, and callers hold different objects.

## Example

```python
from concurrent.futures import ThreadPoolExecutor

_pool = None


def pool():
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(max_workers=4)
    return _pool
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

`--fix` puts a double-checked lock around the build and leaves the global where it is, so code and
tests that touch the global go on working. `--fix --unsafe-fixes` rewrites to `@lazy_singleton` if
nothing else in the module mentions the global; code elsewhere that patches it breaks. It leaves the
function nothing but the build, so it is not done where a comment or another statement would be
lost, or where something runs before the test.

There is one lock for a slot. If another function of the module stores into the slot under a lock of
the module, that one is taken. If it is not certain which lock that is, or it is a `Lock` that might
be held already, the accessor is left alone, and the command says why.

One run goes on until nothing is left to fix: the rewrite of an inner accessor can bring the race of
an outer one to light.

Never rewritten: an accessor with arguments or a decorator, a method, a coroutine, a generator, a
builder of this module that can give `None`, also by coming to its end without a `return`, one that
a variable holds (a `lambda`, a nested function), a builder that calls its accessor again or stores
into its slot itself, and an accessor that works on the object after the store (`_x = build()`, then
`_x.configure()`): a lock alone would leave it half-built in its slot, see `LS021`. Nor is a form
other than `if` with a test of the slot alone, on lines of its own: `match`, `:=`, `try`, a flag.

## Known limits

What is built is judged by its name, and by its class if that is defined in the module or in one
beside it. What the function declares to return outranks a name: `-> str` and `-> type[Model]` are
values, also in quotes, in `Optional` or in a union of values. A value that is merely computed
twice, such as a parsed configuration, is reported at level `info`; one that is drawn at random
(`uuid4()`, `mkdtemp()`, a part of `mkstemp()`) is not a mere value. An instance is a value if its
class never changes it, opens nothing, and is not called like a resource. A class that keeps itself
to one instance by `__new__`, and gives that a state, is a resource whatever it is called. So is an
event or a barrier of `threading`, and a class that names a database table: a second one is refused.
`cls()` is as much as the most that the class or one below it in the module is.

At level `info`, too: a build that the module itself does first, while it is imported, also by way
of its own functions; one in a method of an `asyncio` protocol, which a loop calls; and one that
only coroutines of the module come to, by way of a private function.

At level medium, because mostly one thread comes:

- a build in `main()`, in a command, in a function that parses the command line, in an app's factory
  or in a hook of pytest;
- any build in a module or package called `cli`, `commands`, `conftest`, `test`, `testbase`,
  `testing`, `tests` or `__main__`, with or without underscores around the name, and in a module
  that imports a toolkit for windows, such as Qt, `tkinter` or `wx`, or `twisted`, whose reactor
  calls from one thread;
- an object that holds a lock of `asyncio`.

At level medium, because mostly somebody comes first: what another module of the package makes while
it is imported, by a call of the accessor or of the class, without dots, that begins a line. That is
no proof, for a thread may come before that import. Calls in the package's folders of tests and
examples do not count, nor does any call if the module empties the slot again.

At level medium, because little is lost: what is not handed out, so neither returned, nor assigned
to another place, nor asked for one of its parts (`_client.send`), here or in another function of
the module; and an object whose `__init__` only keeps what it is given, if no method changes it.

A lock that the caller holds is seen if all callers are in the same module and the accessor's name
starts with an underscore; whether two of them hold the same lock is not compared. So is a lock that
a decorator is given (`@holding(lock)`).

A few classes and functions are known by their full name to hold nothing (`jinja2.Environment`,
`json.load`). An instance is no loss, either, if its class gives the same one to all and holds a
lock to do so.

A slot counts as tested, too, if it is rebuilt because it belongs to something else (`os.getpid() !=
_owner_pid`), and if it is asked about itself (`if _client.is_closed`, `if not _client.is_open()`).
A class or factory in a variable makes what its name says before the last word: `client_class()`. A
flag that is set after work is a matter for `LS011`.

The streams of `sys` are no slots, and neither is what a loader fills in `load_module()` or
`exec_module()`: the lock of the import is held there. A slot is seen as a global, as an attribute
of an imported module, of this module (`sys.modules[__name__]`, spelt out), of a function or of an
object made to hold slots, by `globals()["name"]` and by `setattr` with a name that is spelt out.
Not seen: a name that is computed (`setattr(m, name, ...)`, `globals()[name]`, a module's
`__getattr__`), an attribute of an object that came in as an argument, a default argument that
serves as a cache, a variable of an enclosing function, a test in a helper, and what a C extension
keeps.
"""

from collections.abc import Iterator
from dataclasses import replace

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.rules.rule import Hit, Rule, built_twice, hit, level_of
from plugin_utils.checker.slots import Place

__all__ = ("RULE",)


def _check(analysis: Analysis) -> Iterator[Hit]:
    for site in analysis.unlocked_sites:
        if site.slot.place in {Place.GLOBAL, Place.MODULE} and not site.slot.is_item:
            message = built_twice(f"`{site.slot}`")
            yield replace(hit(site, level_of(site, analysis), message, analysis), site=site)


RULE = Rule("LS001", "Global built without a lock", "high", __doc__ or "", _check)
