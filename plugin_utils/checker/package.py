"""Looking through the package around a module: what its modules call at import, and who uses it.

Its files are searched as text, only if something was found in the module, and again only if they
have changed. A file is parsed only where the text says that it is worth it. As with the classes
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

from plugin_utils.checker.definitions import Class
from plugin_utils.checker.module import Module
from plugin_utils.checker.neighbours import class_named, function_named, metaclass_of, module_at
from plugin_utils.checker.syntax import calls_at_import, dotted

__all__ = ("classes_made_by", "is_called_by_others_at_import", "packages_of")

# A call at the beginning of a line: `settings = Settings(`, `_bus: Bus = Bus(`, `setup(`.
_CALL = re.compile(rb"^(?:\w+(?::[^=\n]+)?\s*=\s*)?(\w+)\(", re.MULTILINE)
# The last name of a class's metaclass: `class Bus(metaclass=patterns.Singleton)`.
_METACLASS = re.compile(rb"\bmetaclass=(?:\w+\.)*(\w+)")
# What runs in these comes after the package, or without it.
_OUTSIDE = frozenset({"examples", "test", "testing", "tests"})


def is_called_by_others_at_import(name: str, module: Module) -> bool:
    """Tell whether a module of the package calls `name`, which `module` defines, at import."""
    packages = packages_of(module)
    if not packages:
        return False
    here = Path(module.path).absolute()
    files = _files_of(packages[-1])
    callers = (path for path in files if name.encode() in _names_in(path, _CALL))
    return any(path != here and _means(name, path, here) for path in callers)


def classes_made_by(metaclass: Class, module: Module) -> Iterator[tuple[Class, Module]]:
    """Yield the classes of the package that `metaclass`, a class of `module`, makes."""
    packages = packages_of(module)
    here = Path(module.path).absolute()
    for path in _files_of(packages[-1]) if packages else [here]:
        if metaclass.name.encode() in _names_in(path, _METACLASS):
            other = module_at(path)
            for found in other.classes.values() if other else ():
                if other and _is_made_by(metaclass, found, other, here):
                    yield found, other


def _is_made_by(metaclass: Class, found: Class, module: Module, here: Path) -> bool:
    """Tell whether the class that `here` defines is the metaclass of `found`, in `module`."""
    made_by = metaclass_of(found, module)
    return (
        made_by is not None
        and made_by[0].name == metaclass.name
        and Path(made_by[1].path).absolute() == here
    )


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


def _names_in(path: Path, pattern: re.Pattern[bytes]) -> frozenset[bytes]:
    """Return the names that `pattern` finds in the file at `path`."""
    try:
        found = path.stat()
        if S_ISREG(found.st_mode):  # a pipe by such a name would keep us waiting
            return _search(path, pattern, found.st_mtime_ns, found.st_size)
    except OSError:
        pass
    return frozenset()


@lru_cache(maxsize=20_000)
def _search(path: Path, pattern: re.Pattern[bytes], _changed: int, _size: int) -> frozenset[bytes]:
    return frozenset(pattern.findall(path.read_bytes()))


def _means(name: str, path: Path, here: Path) -> bool:
    """Tell whether the module at `path` calls at import, by `name`, what `here` defines."""
    module = module_at(path)
    if module is None:
        return False
    called = {dotted(call.func) for call in calls_at_import(module.tree.body)}
    found = class_named(name, module) or function_named(name, module)
    return name in called and found is not None and Path(found[1].path) == here
