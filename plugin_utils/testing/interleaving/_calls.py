"""What a call of something written in C can touch.

A Python function has points of its own; C code runs in one piece, and can reach into containers.
"""

from __future__ import annotations

import os
import threading
from types import FrameType, FunctionType, ModuleType
from typing import Final

from plugin_utils.testing.interleaving._points import (
    CallSite,
    attribute_touch,
    item_touch,
    may_add,
)
from plugin_utils.testing.interleaving._readers import MISSING
from plugin_utils.testing.interleaving._results import ATOMS
from plugin_utils.testing.interleaving._touch import EVERYTHING, NAMES, NOTHING, WHOLE, Touch

__all__ = ("ATTRIBUTE_METHODS", "call_touch")

_TOUCH_NOTHING: Final = frozenset(
    {callable, id, isinstance, issubclass, os.getpid, threading.get_ident}
)
_READ_ATTRIBUTE: Final = frozenset({getattr, hasattr})
_WRITE_ATTRIBUTE: Final = frozenset({setattr, delattr})
_READ_FIRST: Final = frozenset({all, any, ascii, iter, len, max, min, repr, reversed, sorted, sum})
# Methods that change nothing, and methods whose first argument is the only key they look at.
_READERS: Final = frozenset(
    {"copy", "count", "get", "index", "items", "join", "keys", "values"}
    | {"__contains__", "__getitem__", "__iter__", "__len__"}
)
_KEYED: Final = frozenset(
    {"add", "discard", "get", "pop", "remove", "setdefault"}
    | {"__contains__", "__delitem__", "__getitem__", "__setitem__"}
)
# Reach attributes by a name that the code does not show.
_REFLECTIVE: Final = frozenset(
    {__import__, delattr, dir, eval, exec, getattr, globals, hasattr, locals, setattr, vars}
)
ATTRIBUTE_METHODS: Final = frozenset(
    {"__delattr__", "__getattribute__", "__setattr__", "__delete__", "__get__", "__set__"}
)
# Methods whose argument is no container that they look into.
_TAKE_ITEMS: Final = _KEYED | {"append", "appendleft", "count", "index", "insert"}
# Some container or namespace, or the inside of an object written in C.
_SOMETHING: Final = Touch(NAMES, write=True)


def call_touch(function: object, owner: object, site: CallSite, frame: FrameType) -> Touch:
    """Return what a call touches, as far as the caller's frame tells.

    Args:
        function: A builtin function or method, a type, or any other callable that is no function.
        owner: What a method is called on; a module or `MISSING` for a function.
        site: The operands of the call.
        frame: The caller.
    """
    first = site.first(frame)
    if isinstance(function, type):
        return _type_touch(function, first)
    if not hasattr(function, "__self__") and not hasattr(function, "__objclass__"):
        return _SOMETHING  # an object with a call of its own, such as a partial
    if owner is MISSING or isinstance(owner, ModuleType):
        return _function_touch(function, first, site.second(frame))
    return _method_touch(getattr(function, "__name__", ""), owner, first)


def _type_touch(called: type, first: object) -> Touch:
    # A class written in Python has the points of its constructor; one in C can copy its argument.
    parts = called.__new__, called.__init__  # type: ignore[misc] # looked at, not called
    own = [part for part in parts if part not in (object.__new__, object.__init__)]
    if issubclass(called, BaseException) or all(isinstance(part, FunctionType) for part in own):
        return NOTHING
    return item_touch(first, WHOLE, write=False)


def _function_touch(function: object, first: object, second: object) -> Touch:
    if function in _TOUCH_NOTHING:
        return NOTHING
    writes = function in _WRITE_ATTRIBUTE
    if isinstance(second, str) and (writes or function in _READ_ATTRIBUTE):
        return attribute_touch(first, second, write=writes)
    if function in _REFLECTIVE:
        return EVERYTHING
    return item_touch(first, WHOLE, write=False) if function in _READ_FIRST else _SOMETHING


def _method_touch(name: str, owner: object, first: object) -> Touch:
    if name in ATTRIBUTE_METHODS:
        return EVERYTHING
    write = name not in _READERS or may_add(owner)
    touch = item_touch(owner, first if name in _KEYED else WHOLE, write=write)
    if touch is NOTHING:  # a text's method, for example: it can only read its argument
        return item_touch(first, WHOLE, write=False)
    if name in _TAKE_ITEMS or type(first) in ATOMS or isinstance(owner, BaseException):
        return touch
    return _SOMETHING  # such as `update`: it reads its argument, and writes to its owner
