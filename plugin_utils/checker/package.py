"""Looking through the package around a module: what its other modules call at import.

Its files are searched as text, once a process, and only if something was found in the module. A
file is parsed only where the text says that it makes the call. As with the classes that are looked
up, what is reported does not depend on which files are checked.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from pathlib import Path

from plugin_utils.checker.module import Module
from plugin_utils.checker.neighbours import class_named, function_named, module_at

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
    callers = _calls_in(packages[-1]).get(name.encode(), ())
    return any(path != here and _means(name, path, here) for path in callers)


def packages_of(module: Module) -> list[Path]:
    """Return the folders of the packages that the module's file is in, the innermost first.

    A text that was not read from a file is in none, wherever the checker runs.
    """
    if not Path(module.path).is_file():
        return []
    folders = Path(module.path).absolute().parents
    return list(takewhile(lambda folder: (folder / "__init__.py").exists(), folders))


@lru_cache(maxsize=2)
def _calls_in(package: Path) -> Mapping[bytes, Sequence[Path]]:
    """Return the names that stand in calls at the beginning of a line, and in which files."""
    found: dict[bytes, list[Path]] = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        if _OUTSIDE.isdisjoint(path.relative_to(package).parts):
            for name in set(_CALL.findall(_text_of(path))):
                found[name].append(path)
    return found


def _text_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _means(name: str, path: Path, here: Path) -> bool:
    """Tell whether `name` stands, in the module at `path`, for what the module `here` defines."""
    module = module_at(path)
    if module is None:
        return False
    found = class_named(name, module) or function_named(name, module)
    return found is not None and Path(found[1].path) == here
