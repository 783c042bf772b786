"""How threads are watched: each Python version has its way, with a module of its own."""

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import CodeType, FunctionType

if sys.version_info >= (3, 12):
    from plugin_utils.testing.interleaving._monitoring import Instrument
else:
    from plugin_utils.testing.interleaving._tracing import Instrument

__all__ = ("Instrument", "codes_in", "nested")

# Where wrappers keep what they wrap: decorators, methods, properties, partials.
_WRAPPED = ("__wrapped__", "__func__", "fget", "fset", "fdel", "func")


def codes_in(namespaces: Iterable[Mapping[str, object]], files: Collection[str]) -> list[CodeType]:
    """Return the code of every function in the namespaces that comes from one of the files.

    The garbage collector cannot be asked: free-threaded builds stop tracking functions.
    """
    seen: dict[int, object] = {}
    waiting = [value for names in list(namespaces) for value in list(names.values())]
    while waiting:
        found = waiting.pop()
        if id(found) not in seen:
            seen[id(found)] = found
            waiting += _inside(found, files)
    functions = [found for found in seen.values() if isinstance(found, FunctionType)]
    return nested(f.__code__ for f in functions if f.__code__.co_filename in files)


def _inside(found: object, files: Collection[str]) -> Iterator[object]:
    if isinstance(found, type):
        file = getattr(sys.modules.get(found.__module__), "__file__", None)
        if file in files or file is None:
            yield from list(vars(found).values())
        return
    names = vars(type(found))
    yield from (
        getattr(found, name)
        for name in _WRAPPED
        if name in names or name in getattr(found, "__dict__", ())
    )


def nested(codes: Iterable[CodeType]) -> list[CodeType]:
    """Return the codes, and those of the functions that are defined inside them."""
    found = {id(code): code for code in codes}
    waiting = list(found.values())
    while waiting:
        inner = [c for c in waiting.pop().co_consts if isinstance(c, CodeType)]
        waiting += [code for code in inner if id(code) not in found]
        found.update((id(code), code) for code in inner)
    return list(found.values())
