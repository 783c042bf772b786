"""Find the docstrings that mkdocstrings puts into a page.

A line `::: package.name` shows the docstring of an object and of its public members. Their fences
are blocks of the page like any other. The source is read, never imported, as mkdocstrings does.
"""

import ast
import inspect
import re
from collections.abc import Iterator, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from typing import NamedTuple

__all__ = ("Docstring", "docstrings")

_DIRECTIVE = re.compile(r"\s*::: +(?P<name>[\w.]+)\s*")
_Named = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Docstring(NamedTuple):
    """A docstring without its indentation, and where it begins."""

    text: str
    file: Path
    line: int


def docstrings(line: str, paths: Sequence[str]) -> Iterator[Docstring]:
    """Find what the line of a page shows; nothing, for most lines.

    Args:
        line: A line of a page.
        paths: The folders in which packages are searched.
    """
    match = _DIRECTIVE.fullmatch(line)
    found = _find(match["name"].split("."), paths) if match else None
    if found:
        file, node = found
        for shown in _shown(node):
            yield from _docstring(shown, file)


def _find(name: list[str], paths: Sequence[str]) -> tuple[Path, ast.Module | _Named] | None:
    """Find an object by its dotted name, also where a module only imports it."""
    file, depth = _module(name, paths)
    if file is None:
        return None
    node: ast.Module | _Named = ast.parse(file.read_text("utf-8"))
    for number in range(depth, len(name)):
        named = [child for child in node.body if isinstance(child, _Named)]
        # The last of that name: the ones before it are overloads.
        child = next((child for child in reversed(named) if child.name == name[number]), None)
        if child is None:
            package = name[: depth - (file.name != "__init__.py")]
            origin = _origin(node, name[number], package)
            return _find([*origin, *name[number + 1 :]], paths) if origin else None
        node = child
    return file, node


def _module(name: list[str], paths: Sequence[str]) -> tuple[Path | None, int]:
    """Find the innermost module in a dotted name, and how many parts of the name it takes."""
    file, search = None, list(paths)
    for depth, part in enumerate(name):
        spec = PathFinder.find_spec(part, search)
        if spec is None or not spec.origin or not spec.origin.endswith(".py"):
            return file, depth
        file, search = Path(spec.origin), list(spec.submodule_search_locations or ())
    return file, len(name)


def _origin(node: ast.Module | _Named, name: str, package: list[str]) -> list[str]:
    """Return the dotted name of what a module of `package` imports as `name`, or nothing."""
    for child in (child for child in node.body if isinstance(child, ast.ImportFrom)):
        for alias in child.names:
            if (alias.asname or alias.name) == name:
                above = package[: len(package) + 1 - child.level] if child.level else []
                module = child.module.split(".") if child.module else []
                return [*above, *module, alias.name]
    return []


def _shown(node: ast.Module | _Named) -> Iterator[ast.Module | _Named]:
    """Give an object and its public members; a class shows its `__init__`, too."""
    yield node
    for child in node.body if isinstance(node, ast.Module | ast.ClassDef) else ():
        if isinstance(child, _Named) and (child.name == "__init__" or child.name[0] != "_"):
            yield from _shown(child)


def _docstring(node: ast.Module | _Named, file: Path) -> Iterator[Docstring]:
    text = ast.get_docstring(node, clean=False)
    if text is not None:
        blank = len(text) - len(text.lstrip())
        line = node.body[0].lineno + text[:blank].count("\n")
        yield Docstring(inspect.cleandoc(text), file, line)
