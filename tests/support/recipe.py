"""Checks one recipe: `make recipe RECIPE=share-one-client`.

It runs what a new page can break, and nothing else: its snippets' style and types, the site, the
page's blocks, the tests that name the recipe, those of its place in the guide, and its looks.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tests.support.site import BUILT

__all__ = ("Check", "checks", "failed")

ROOT = Path(__file__).parents[2]
TABLES = ("tests/snippets/test_as_pasted.py", "tests/interleaving/schedules.py")
"""Where a recipe names its racy snippet."""
TESTS = (
    "tests/snippets",
    "tests/interleaving/test_schedules.py",
    "tests/docs/test_blocks.py",
    "tests/docs/test_contributing.py",
    "tests/docs/test_site.py",
)
OF_ALL_PAGES = (
    "test_each_racy_snippet_is_named",
    "test_each_racy_snippet_has_a_listing_or_a_reason",
    "test_each_listing_stands_on_a_page",
    "test_each_race_has_a_diagram",
    "test_every_page_is_in_the_navigation",
)
"""Tests that look at all recipes at once, and that a new one can fail."""
_INCLUDED = re.compile(r'--8<-- "(snippets/[^"]+\.py)"')


class Check(NamedTuple):
    """A command that has to succeed."""

    name: str
    command: tuple[str, ...]


def checks(recipe: str) -> list[Check]:
    """Return what has to hold of a recipe, quickest first, as far as order does not matter.

    Args:
        recipe: The name of its page, without the folder and `.md`.

    Raises:
        ValueError: There is no such page.
    """
    page = Path("docs/how-to", f"{recipe}.md")
    if not (ROOT / page).is_file():
        msg = f"RECIPE is the name of a page, such as share-one-client; there is no {page}"
        raise ValueError(msg)
    snippets = _INCLUDED.findall((ROOT / page).read_text("utf-8"))
    names = sorted({recipe.replace("-", "_"), *(Path(file).stem for file in snippets)})
    tests = [f"tests/snippets/test_{name}.py" for name in names]
    files = [file for file in (*snippets, *tests, *TABLES) if (ROOT / file).is_file()]
    chosen = " or ".join((page.name, *names, *OF_ALL_PAGES))
    return [
        _check("lint", "ruff", "check", *files),
        _check("format", "ruff", "format", "--check", *files),
        _check("types (mypy)", "mypy", *files),
        _check("types (basedpyright)", "basedpyright", *files),
        _check("site", "mkdocs", "build", "--strict", "--quiet"),
        _check("tests", "pytest", "-q", "--codeblocks", f"{page}", *TESTS, "-k", chosen),
        _check("browser", "pytest", "-q", "tests/browser", "-k", f"{page.stem}.html"),
    ]


def failed(wanted: Iterable[Check]) -> list[str]:
    """Run the checks and return the names of those that failed; without a site it ends there."""
    names: list[str] = []
    for name, command in wanted:
        print(f"--- {name}", flush=True)
        environ = {**os.environ, BUILT: str(ROOT / "site")}
        if subprocess.run(command, cwd=ROOT, env=environ, check=False).returncode:
            names.append(name)
            if name == "site":
                break
    return names


def _check(name: str, module: str, *arguments: str) -> Check:
    return Check(name, (sys.executable, "-m", module, *arguments))


def main(recipe: str) -> int:
    """Check a recipe and say how it went; 1 if a check failed, 2 if there is no such recipe."""
    try:
        wanted = checks(recipe)
    except ValueError as error:
        print(error)
        return 2
    names = failed(wanted)
    if names:
        print(f"{recipe}: failed: {', '.join(names)}; each has said why above")
        return 1
    print(f"{recipe}: every check passed. Look at it: site/how-to/{recipe}.html")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
