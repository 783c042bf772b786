"""Looking up a class or function that a module imports from its own package or folder.

Only what stands on the disk beside the module is read, and only for a finding. So what is reported
for a file does not depend on which other files are checked, nor on their order.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from plugin_utils.checker.definitions import Class, Function
from plugin_utils.checker.module import Module
from plugin_utils.checker.source import UNPARSABLE, parse, read
from plugin_utils.checker.syntax import dotted

__all__ = ("class_named", "function_named", "metaclass_of", "module_at", "value_named")

T = TypeVar("T")

# From the package's `__init__.py` to the module that it takes the class from, and on.
_STEPS = 3


def class_named(name: str, module: Module, steps: int = _STEPS) -> tuple[Class, Module] | None:
    """Return the class that `name` stands for in `module`, and the module that defines it.

    The name may be dotted: `models.Client`.
    """
    return _found(name, module, lambda other: other.classes, steps)


def function_named(name: str, module: Module) -> tuple[Function, Module] | None:
    """Return the function that `name` stands for in `module`, and the module that defines it."""
    return _found(name, module, lambda other: other.functions, _STEPS)


def value_named(name: str, module: Module) -> ast.expr | None:
    """Return what another module binds to what `name` stands for in `module`."""
    found = _found(name, module, lambda other: other.bindings, _STEPS)
    return found[0] if found else None


def metaclass_of(found: Class, module: Module) -> tuple[Class, Module] | None:
    """Return the metaclass of `found`, a class of `module`, and the module that defines it."""
    names = (dotted(k.value) for k in found.node.keywords if k.arg == "metaclass")
    return next((class_named(name, module) for name in names), None)


def _found(
    name: str, module: Module, defined: Callable[[Module], Mapping[str, T]], steps: int
) -> tuple[T, Module] | None:
    if name in defined(module):
        return defined(module)[name], module
    first, dot, rest = name.partition(".")
    full = module.imports.get(first, "") + dot + rest
    original = full.rpartition(".")[2]
    source = full.removesuffix(original)
    source = source[:-1] if source.strip(".") else source  # the dots of `from . import` stay
    if first not in module.imports or not source or not module.path or not steps:
        return None
    for path in _files_of(source, Path(module.path)):
        found = module_at(path)
        return _found(original, found, defined, steps - 1) if found else None
    return None


def _files_of(source: str, importer: Path) -> Iterator[Path]:
    """Yield the files, as far as they exist, that `importer` may mean by the module `source`."""
    name = source.lstrip(".")
    dots = len(source) - len(name)
    parts = [part for part in name.split(".") if part]
    folders = importer.absolute().parents
    # A package's own folder, or the folder that a package or a script stands in.
    roots = folders[dots - 1 : dots] if dots else _roots(parts[0], folders)
    for root in roots:
        base = root.joinpath(*parts)
        yield from filter(Path.is_file, (base / "__init__.py", base.with_suffix(".py")))


def _roots(first: str, folders: Sequence[Path]) -> Iterator[Path]:
    yield from (folder.parent for folder in folders if folder.name == first)
    yield folders[0]


def module_at(path: Path) -> Module | None:
    """Return the module at `path`, unless it cannot be read."""
    try:
        text = read(str(path)).text
        return Module(parse(text), text, str(path))
    except (OSError, LookupError, *UNPARSABLE):
        return None
