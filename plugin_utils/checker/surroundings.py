"""What kind of code a module is, as far as that tells how many threads come there."""

from __future__ import annotations

from pathlib import Path

from plugin_utils.checker.definitions import Function
from plugin_utils.checker.module import Module
from plugin_utils.checker.package import packages_of
from plugin_utils.checker.syntax import dotted
from plugin_utils.checker.words import words_of

__all__ = ("has_main_thread", "is_called_by_loop")

# A file or a package by such a name is a program of its own: one thread, which the user waits for.
_PROGRAMS = frozenset("__main__ cli commands conftest test testbase testing tests".split())
# A window is made, drawn and heard by one thread, and a reactor calls from one.
_WINDOWS = frozenset("""
    AppKit PyQt4 PyQt5 PyQt6 PySide2 PySide6 gi kivy pyface qtpy tkinter traitsui twisted vtk wx
    """.split())  # fmt: skip


def has_main_thread(module: Module) -> bool:
    """Tell whether one thread does the work of the module: a program, a test, a window."""
    imported = {source.partition(".")[0] for source in module.imports.values()}
    return not _WINDOWS.isdisjoint(imported) or any(map(_is_program, _names_of(module)))


def _names_of(module: Module) -> list[str]:
    """Return the names of the module and of the packages that it is in."""
    return [Path(module.path).stem, *(folder.name for folder in packages_of(module))]


def _is_program(name: str) -> bool:
    return not _PROGRAMS.isdisjoint({name, name.strip("_")})


def is_called_by_loop(function: Function, module: Module) -> bool:
    """Tell whether an event loop calls the function, as it calls each method of a protocol."""
    bases = function.owner.node.bases if function.owner else []
    return any(_is_protocol(dotted(base), module) for base in bases)


def _is_protocol(base: str, module: Module) -> bool:
    source = module.imports.get(base.partition(".")[0], "").partition(".")[0]
    return source == "asyncio" and words_of(base)[-1:] == ["protocol"]
