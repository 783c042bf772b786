"""What a call of something written in C can touch.

A Python function has points of its own; C code runs in one piece, and can reach into containers.
"""

from __future__ import annotations

import builtins
import os
import threading
from types import FrameType, ModuleType
from typing import Final

from plugin_utils.testing.interleaving._points import CallSite, identity, item_touch
from plugin_utils.testing.interleaving._readers import MISSING
from plugin_utils.testing.interleaving._touch import EVERYTHING, ITEMS, NOTHING, WHOLE, Touch

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
ATTRIBUTE_METHODS: Final = frozenset({"__delattr__", "__getattribute__", "__setattr__"})
# Some container, or the inside of an object written in C.
_SOMETHING: Final = Touch(ITEMS, write=True)


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
    # A class written in Python has the points of its constructor; a builtin copies its argument.
    if called.__module__ != builtins.__name__ or issubclass(called, BaseException):
        return NOTHING
    return item_touch(first, WHOLE, write=False)


def _function_touch(function: object, first: object, second: object) -> Touch:
    if function in _TOUCH_NOTHING:
        return NOTHING
    writes = function in _WRITE_ATTRIBUTE
    if isinstance(second, str) and (writes or function in _READ_ATTRIBUTE):
        return Touch(second, write=writes, of=identity(first))
    if function in _REFLECTIVE:
        return EVERYTHING
    return item_touch(first, WHOLE, write=False) if function in _READ_FIRST else _SOMETHING


def _method_touch(name: str, owner: object, first: object) -> Touch:
    if name in ATTRIBUTE_METHODS:
        return EVERYTHING
    touch = item_touch(owner, first if name in _KEYED else WHOLE, write=name not in _READERS)
    if touch is NOTHING:  # a text's method, for example: it can only read its argument
        return item_touch(first, WHOLE, write=False)
    return touch
