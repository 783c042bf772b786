"""`plugin-utils vendor`: the primitives as one file that a plugin can carry with it.

A plugin that is a folder dropped into its host often cannot declare a dependency. It can carry
this file: the same code, in the same order, with the standard library's imports gathered on top.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import plugin_utils

__all__ = ("MODULES", "Verdict", "check", "main", "render")

_Import: TypeAlias = ast.Import | ast.ImportFrom

# Each module before those that import it.
MODULES = ("errors", "_typing", "_factory", "_gate", "_tenure", "_slot", "_keyed", "_lazy")

_HEADER = """\
# plugin-utils {version}, one file: do not edit, write it again with `plugin-utils vendor`.
# sha256 of all below this line: {digest}
"""
_KEPT = "not written: the file is not an unmodified copy, and would be lost; --force writes over it"
_HEADER_FORM = re.compile(r"# plugin-utils (\S+), .*\n# sha256 [^:\n]*: ([0-9a-f]{64})\n")


def render() -> str:
    """Return the text of the file: header, imports, and the modules' code."""
    body = _body()
    return _HEADER.format(version=plugin_utils.__version__, digest=_digest(body)) + body


@dataclass(frozen=True)
class Verdict:
    """What `check` says of a file.

    Attributes:
        good: Whether the file is what `render` makes now.
        reason: One sentence for a person.
    """

    good: bool
    reason: str


def check(text: str) -> Verdict:
    """Say whether a file's text is a current and unmodified copy.

    Args:
        text: What the file holds.
    """
    header = _HEADER_FORM.match(text)
    if header is None:
        return Verdict(good=False, reason="not a file that `plugin-utils vendor` wrote: no header")
    version, _ = header.groups()
    if not _is_untouched(text):
        return Verdict(good=False, reason=f"modified since it was written from {version}")
    if text != render():
        now = plugin_utils.__version__
        return Verdict(good=False, reason=f"outdated: written from {version}, this is {now}")
    return Verdict(good=True, reason=f"current and unmodified: {version}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit status: 0, 1 for a bad copy, 2 for a bad path.

    Args:
        arguments: Those after `vendor`; the process's own by default.
    """
    parser = argparse.ArgumentParser(
        prog="plugin-utils vendor",
        description="Write the primitives into one file that needs the standard library only.",
    )
    parser.add_argument("path", type=Path, help="the file, for example my_plugin/_singletons.py")
    parser.add_argument("--check", action="store_true", help="compare the file, write nothing")
    parser.add_argument("--force", action="store_true", help="write over any file")
    options = parser.parse_args(arguments)
    path: Path = options.path
    try:
        if path.exists() and not path.is_file():
            # A pipe would be waited for, perhaps for ever, until somebody opens its other end.
            print(f"plugin-utils vendor: {path}: not a regular file", file=sys.stderr)
            return 2
        if options.check:
            verdict = check(path.read_text(encoding="utf-8"))
            print(f"{path}: {verdict.reason}")
            return 0 if verdict.good else 1
        if path.exists() and not options.force and not _is_untouched(path.read_text("utf-8")):
            print(f"plugin-utils vendor: {path}: {_KEPT}", file=sys.stderr)
            return 1
        path.write_text(render(), encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        print(f"plugin-utils vendor: {path}: {error}", file=sys.stderr)
        return 2
    print(f"{path}: written from plugin-utils {plugin_utils.__version__}")
    return 0


def _is_untouched(text: str) -> bool:
    """Return whether the text is what this command has written, in whatever version."""
    header = _HEADER_FORM.match(text)
    return header is not None and _digest(text[header.end() :]) == header.group(2)


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()


def _body() -> str:
    modules = [_Module(name) for name in MODULES]
    run_time = _Imports.of(node for module in modules for node in module.imports)
    typing = _Imports.of(node for module in modules for node in module.typing_imports)
    exported = "".join(f'    "{name}",\n' for name in sorted(plugin_utils.__all__))
    parts = [
        "# ruff: noqa - checked where it was written, not where it is copied to",
        '"""Thread-safe lazy singletons: accessor, slot, keyed slots, and their errors."""\n',
        "from __future__ import annotations\n",
        "\n".join(run_time.lines()) + "\n",
        "TYPE_CHECKING = False\n",
        "if TYPE_CHECKING:\n" + "".join(f"    {line}\n" for line in typing.lines()),
        f"__all__ = (\n{exported})\n",
        *(f"\n{module.code}\n" for module in modules),
    ]
    return "\n".join(parts)


class _Module:
    """A module of this package, taken apart: its standard imports, and its code without them."""

    def __init__(self, name: str) -> None:
        path = Path(plugin_utils.__file__).with_name(f"{name}.py")
        text = path.read_text(encoding="utf-8")
        self._lines: list[str | None] = list(text.splitlines())
        tree = ast.parse(text)
        self.imports = self._take_imports(tree.body)
        self.typing_imports: list[_Import] = []
        for node in tree.body:
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                taken = self._take_imports(node.body)
                self.typing_imports += taken
                if len(self._statements_left(node.body)) == 0:
                    self._remove(node)
            elif _stands_on_top(node):
                self._remove(node)
        self._comment_docstring(tree, path.name)
        kept = "\n".join(line for line in self._lines if line is not None)
        self.code = re.sub(r"\n{4,}", "\n\n\n", kept).strip("\n")

    def _take_imports(self, body: Sequence[ast.stmt]) -> list[_Import]:
        taken = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
        for node in taken:
            self._remove(node)
        return [node for node in taken if not _is_ours(node)]

    def _statements_left(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [node for node in body if self._lines[node.lineno - 1] is not None]

    def _remove(self, node: ast.stmt) -> None:
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
            self._lines[number - 1] = None

    def _comment_docstring(self, tree: ast.Module, name: str) -> None:
        docstring = ast.get_docstring(tree) or ""
        self._remove(tree.body[0])
        comment = [f"# {line}".rstrip() for line in [f"{name}:", *docstring.splitlines()]]
        self._lines[0] = "\n".join(comment)


def _is_ours(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
        ("plugin_utils", "__future__")
    )


def _stands_on_top(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in {
        "__all__",
        "TYPE_CHECKING",
    }


class _Imports:
    """The imports of several modules, each module and name once."""

    def __init__(self) -> None:
        self._modules: set[str] = set()
        self._names: dict[str, set[str]] = {}

    @classmethod
    def of(cls, nodes: Iterable[_Import]) -> _Imports:
        """Collect the imports that the statements make."""
        imports = cls()
        for node in nodes:
            if isinstance(node, ast.ImportFrom):
                names = imports._names.setdefault(node.module or "", set())
                names.update(alias.name for alias in node.names)
            else:
                imports._modules.update(alias.name for alias in node.names)
        return imports

    def lines(self) -> Iterator[str]:
        """Yield the import statements, sorted."""
        yield from (f"import {name}" for name in sorted(self._modules))
        for module, names in sorted(self._names.items()):
            yield f"from {module} import {', '.join(sorted(names))}"
