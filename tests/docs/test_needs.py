"""A page whose blocks need a package says so before the first of them."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from plugin_utils.docs_testing._block import Block
from plugin_utils.docs_testing._extract import blocks
from plugin_utils.docs_testing._pages import Site

ROOT = Path(__file__).parents[2]
SOURCE = Site(ROOT / "mkdocs.yml")
PAGES = [*SOURCE.pages, ROOT / "README.md"]
PYTHON = {"python", "py", "python3"}
SHELL = {"bash", "sh", "shell", "console"}
# What the library's own consumers import, once they are used.
BEHIND = {"plugin_utils.honcho": "honcho", "plugin_utils.fal": "fal_client"}
# Programs that a shell block starts, and Python files that it writes.
STARTED = re.compile(r"^(?:[$!] )?(?:python -m )?(pytest|mkdocs)\b", re.MULTILINE)
IMPORTED = re.compile(r"^\s*(?:from|import) ([\w.]+)", re.MULTILINE)


def modules(block: Block) -> Iterator[str]:
    """Yield the full names of the modules that a block imports, or starts."""
    if block.language in SHELL:
        yield from STARTED.findall(block.code)
        yield from IMPORTED.findall(block.code)
    elif block.language in PYTHON:
        for node in ast.walk(ast.parse(block.code)):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module


@cache
def packages() -> dict[str, set[str]]:
    """Return the names of the packages that bring each installed module."""
    return {
        module: {name.replace("_", "-").lower() for name in names}
        for module, names in packages_distributions().items()
    }


def needed(page: Path) -> set[str]:
    """Return the packages that the blocks of a page need, besides this library."""
    found = set[str]()
    for block in blocks(SOURCE.read(page)):
        for name in modules(block):
            found |= packages().get(BEHIND.get(name, name.partition(".")[0]), set())
    return found - {"plugin-utils"}


def top_of(page: Path) -> str:
    """Return what a reader sees before the second heading of a page."""
    return page.read_text("utf-8").partition("\n## ")[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_page_names_each_package_that_its_blocks_need(page: Path) -> None:
    """Near the top, so that a reader who copies a block has installed what it imports."""
    named = re.findall(r"`([^`\n]+)`", top_of(page))
    assert needed(page) <= set(named)


def test_packages_are_found_in_every_form() -> None:
    """In Python, in an included file, behind the library's own modules, and in a shell."""
    how_to = ROOT / "docs/how-to"
    assert needed(how_to / "two-event-loops.md") == {"httpx"}
    assert needed(how_to / "once-per-machine.md") == {"filelock"}
    assert needed(how_to / "connect-to-honcho.md") == {"honcho-ai"}
    assert needed(how_to / "test-your-docs.md") == {"mkdocs", "pytest"}
    assert needed(ROOT / "docs/index.md") == set()
