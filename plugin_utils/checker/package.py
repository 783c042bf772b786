"""Looking through the package around a module: what its other modules call at import.

Its files are searched as text, only if something was found in the module, and again only if they
have changed. A file is parsed only where the text says that it makes the call. As with the classes
that are looked up, what is reported does not depend on which files are checked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from stat import S_ISREG

from plugin_utils.checker.module import Module
from plugin_utils.checker.neighbours import class_named, function_named, module_at
from plugin_utils.checker.syntax import calls_at_import, dotted

__all__ = ("is_called_by_others_at_import", "packages_of")

# A call at the beginning of a line: `settings = Settings(`, `_bus: Bus = Bus(`, `setup(`.
_CALL = re.compile(rb"^(?:\w+(?::[^=\n]+)?\s*=\s*)?(\w+)\(", re.MULTILINE)
# What runs in these comes after the package, or without it.
_OUTSIDE = frozenset({"examples", "test", "testing", "tests"})


def is_called_by_others_at_import(name: str, module: Module) -> bool:
    """Tell whether a module of the package calls `name`, which `module` defines, at import."""
    packages = packages_of(module)
    if not packages:
        return False
    here = Path(module.path).absolute()
    callers = (path for path in _files_of(packages[-1]) if name.encode() in _calls_in(path))
    return any(path != here and _means(name, path, here) for path in callers)


def packages_of(module: Module) -> list[Path]:
    """Return the folders of the packages that the module's file is in, the innermost first.

    A text that was not read from a file is in none, wherever the checker runs.
    """
    if not Path(module.path).is_file():
        return []
    folders = Path(module.path).absolute().parents
    return list(takewhile(lambda folder: (folder / "__init__.py").exists(), folders))


def _files_of(package: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(package):
        folders[:] = [name for name in folders if name not in _OUTSIDE]
        yield from (Path(parent, name) for name in files if name.endswith(".py"))


def _calls_in(path: Path) -> frozenset[bytes]:
    """Return the names that stand in calls at the beginning of a line of the file at `path`."""
    try:
        found = path.stat()
        if S_ISREG(found.st_mode):  # a pipe by such a name would keep us waiting
            return _read_calls(path, found.st_mtime_ns, found.st_size)
    except OSError:
        pass
    return frozenset()


@lru_cache(maxsize=20_000)
def _read_calls(path: Path, _changed: int, _size: int) -> frozenset[bytes]:
    return frozenset(_CALL.findall(path.read_bytes()))


def _means(name: str, path: Path, here: Path) -> bool:
    """Tell whether the module at `path` calls at import, by `name`, what `here` defines."""
    module = module_at(path)
    if module is None:
        return False
    called = {dotted(call.func) for call in calls_at_import(module.tree.body)}
    found = class_named(name, module) or function_named(name, module)
    return name in called and found is not None and Path(found[1].path) == here
