"""How threads are watched: each Python version has its way, with a module of its own."""

import gc
import sys
from collections.abc import Collection, Iterable
from types import CodeType, FunctionType

if sys.version_info >= (3, 12):
    from plugin_utils.testing.interleaving._monitoring import Instrument
else:
    from plugin_utils.testing.interleaving._tracing import Instrument

__all__ = ("Instrument", "codes_in", "nested")


def codes_in(files: Collection[str]) -> list[CodeType]:
    """Return the code of every function that was defined in one of the files."""
    functions = [found for found in gc.get_objects() if isinstance(found, FunctionType)]
    return nested(f.__code__ for f in functions if f.__code__.co_filename in files)


def nested(codes: Iterable[CodeType]) -> list[CodeType]:
    """Return the codes, and those of the functions that are defined inside them."""
    found = {id(code): code for code in codes}
    waiting = list(found.values())
    while waiting:
        inner = [c for c in waiting.pop().co_consts if isinstance(c, CodeType)]
        waiting += [code for code in inner if id(code) not in found]
        found.update((id(code), code) for code in inner)
    return list(found.values())
