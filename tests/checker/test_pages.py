"""The rules' pages: committed, made from the docstrings, all of one form."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from plugin_utils.checker import RULES, Level, check_source
from plugin_utils.checker.pages import page
from plugin_utils.checker.rules import PAGES

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "rules"
SECTIONS = [
    "What it does",
    "Why it is bad",
    "Example",
    "Use instead",
    "Fix safety",
    "Known limits",
]


@pytest.mark.parametrize("code", PAGES)
def test_the_committed_page_is_the_docstring(code: str) -> None:
    """After a change to a rule's docstring, run `make rules`."""
    assert (DOCS / f"{code}.md").read_text(encoding="utf-8") == page(PAGES[code])


def test_there_is_no_page_without_a_code() -> None:
    """Besides the index."""
    names = {path.stem for path in DOCS.glob("*.md")}
    assert names == {"index", *PAGES}


@pytest.mark.parametrize("code", PAGES)
def test_a_page_has_its_sections_in_order(code: str) -> None:
    """A reader who knows one page knows where to look on all."""
    assert re.findall(r"^## (.*)$", page(PAGES[code]), re.MULTILINE) == SECTIONS


@pytest.mark.parametrize("code", PAGES)
def test_the_index_lists_the_code(code: str) -> None:
    """With its title and levels, as the code has them."""
    rule = PAGES[code]
    row = f"| [{code}]({code}.md) | {rule.title} | {rule.levels} |"
    assert row in (DOCS / "index.md").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("code", RULES)
def test_the_example_is_found_and_the_way_out_is_clean(code: str) -> None:
    """A page that shows what the checker does not see would be no help."""
    example, *instead = re.findall(r"```python\n(.*?)```", page(RULES[code]), re.DOTALL)
    assert code in {f.code for f in check_source(example) if f.level >= Level.MEDIUM}
    assert [f for text in instead for f in check_source(text)] == []


def test_the_pages_are_written_where_they_are_wanted(tmp_path: Path) -> None:
    """Into a folder that need not be there yet, by the command that `make rules` runs."""
    arguments = [sys.executable, "-m", "plugin_utils.checker.pages", str(tmp_path / "rules")]
    subprocess.run(arguments, check=True, timeout=30, cwd=DOCS.parents[2])
    assert {path.stem for path in (tmp_path / "rules").iterdir()} == set(PAGES)
