"""What a call of something written in C can touch.

A Python function has points of its own; C code runs in one piece, and can reach into containers.
"""

from __future__ import annotations

import builtins
import os
import threading
from types import FrameType, ModuleType
from typing import Final

from plugin_utils.testing.interleaving._operands import MISSING
from plugin_utils.testing.interleaving._points import CallSite, identity, item_touch
from plugin_utils.testing.interleaving._touch import EVERYTHING, ITEMS, NOTHING, WHOLE, Touch

__all__ = ("call_touch",)

_TOUCH_NOTHING: Final = frozenset(
    {callable, id, isinstance, issubclass, os.getpid, threading.get_ident, object.__init__}
)
_READ_ATTRIBUTE: Final = frozenset({getattr, hasattr})
_WRITE_ATTRIBUTE: Final = frozenset({setattr, delattr})
_READ_FIRST: Final = frozenset(
    {all, any, ascii, iter, len, max, min, repr, reversed, sorted, sum}
)
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
    {"__delattr__", "__getattribute__", "__import__", "__setattr__", "delattr", "dir", "eval"}
    | {"exec", "getattr", "globals", "hasattr", "locals", "setattr", "vars"}
)


def call_touch(function: object, owner: object, site: CallSite, frame: FrameType) -> Touch:
    """Return what a call touches, as far as the caller's frame tells.

    Args:
        function: A builtin function or method, a type, or any other callable that is no function.
        owner: What a method is called on; a module or `MISSING` for a function.
        site: The operands of the call.
        frame: The caller.
    """
    if isinstance(function, type):
        return _type_touch(function, site.first(frame))
    name = getattr(function, "__name__", "")
    if not hasattr(function, "__self__") and not hasattr(function, "__objclass__"):
        return Touch(ITEMS, write=True)  # an object with a call of its own, such as a partial
    if function in _TOUCH_NOTHING:
        return NOTHING
    first = site.first(frame)
    if function in _READ_ATTRIBUTE or function in _WRITE_ATTRIBUTE:
        attribute = site.second(frame)
        if isinstance(attribute, str):
            return Touch(attribute, write=function in _WRITE_ATTRIBUTE, of=identity(first))
    if name in _REFLECTIVE:
        return EVERYTHING
    if function in _READ_FIRST:
        return item_touch(first, WHOLE, write=False)
    if owner is MISSING or isinstance(owner, ModuleType):
        return Touch(ITEMS, write=True)
    return _method_touch(name, owner, first)


def _type_touch(called: type, first: object) -> Touch:
    # A class written in Python has the points of its constructor; a builtin copies its argument.
    if called.__module__ != builtins.__name__ or issubclass(called, BaseException):
        return NOTHING
    return item_touch(first, WHOLE, write=False)


def _method_touch(name: str, owner: object, first: object) -> Touch:
    write = name not in _READERS
    touch = item_touch(owner, first if name in _KEYED else WHOLE, write=write)
    if touch is NOTHING:  # a text's method, for example: it can only read its argument
        return item_touch(first, WHOLE, write=False)
    return touch
