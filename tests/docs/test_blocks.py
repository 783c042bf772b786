"""The blocks of the pages: all of them run, and none relies on what a reader does not see."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from plugin_utils.docs_testing._block import Block
from plugin_utils.docs_testing._extract import blocks
from plugin_utils.docs_testing._marks import plan
from plugin_utils.docs_testing._pages import Site
from plugin_utils.docs_testing.check import check

ROOT = Path(__file__).parents[2]
MAX_NOT_RUN = 2


@pytest.fixture(scope="module")
def source() -> Site:
    """Return the site's sources."""
    return Site(ROOT / "mkdocs.yml")


@pytest.fixture(scope="module")
def texts(source: Site) -> dict[Path, str]:
    """Return all pages as written."""
    return {page: page.read_text("utf-8") for page in [*source.pages, ROOT / "README.md"]}


def all_blocks(source: Site) -> Iterator[Block]:
    """Yield the blocks of every page and of the README."""
    for page in [*source.pages, ROOT / "README.md"]:
        yield from blocks(source.read(page))


def test_what_can_be_copied_is_what_was_tested(site: Path) -> None:
    """Every block of the HTML is the text of a collected one, and no collected one is hidden."""
    result = check(ROOT / "mkdocs.yml", site)
    assert result.problems == []
    assert result.counts["matched"] > 100
    assert result.counts["hidden"] == 0


def test_only_a_shell_session_goes_on(source: Site) -> None:
    """A Python block runs as pasted, alone. Steps in a shell may go on where the last one ended."""
    for path in [*source.pages, ROOT / "README.md"]:
        page = source.read(path)
        shown = {line for fence in page.fences for line in range(fence.start, fence.end)}
        for number, text in enumerate(page.lines):
            if "<!--pytest-codeblocks:cont" in text and number not in shown:
                continued = next(fence for fence in page.fences if fence.start > number)
                assert continued.language in {"bash", "sh", "console"}, page.places[number]


def test_almost_every_block_runs(source: Site) -> None:
    """At most two blocks of the site are shown and not run."""
    found = list(all_blocks(source))
    assert len(found) > 100
    left_out = [b.place for b in found if plan(b.marks, b.importorskip).not_run]
    assert len(left_out) <= MAX_NOT_RUN, left_out


def test_what_hangs_does_not_end_by_itself(source: Site) -> None:
    """A block that is shown as hanging waits for locks and threads without a time limit."""
    hanging = [
        block
        for block in all_blocks(source)
        if (wrong := plan(block.marks, block.importorskip).wrong) and wrong.kind == "hangs"
    ]
    assert len(hanging) > 5
    limited = re.compile(r"\.(?:acquire|join)\([^)]")
    assert not [block.place for block in hanging if limited.search(block.code)]


def test_no_page_is_left_out(texts: dict[Path, str]) -> None:
    """No page opts out of the tests."""
    assert not [page for page, text in texts.items() if "pytest-codeblocks:skipfile" in text]


def test_each_race_has_a_diagram(texts: dict[Path, str]) -> None:
    """A page that explains a race, or what leaks from it, draws how it comes about."""
    wrong = re.compile(r'<!--pytest\.mark\.goes_wrong\("(?:races|leaks)"')
    racy = {
        page: text
        for page, text in texts.items()
        if page.parent.name in {"explanation", "how-to"} and wrong.search(text)
    }
    assert len(racy) > 5
    drawn = re.compile(r"^ *```mermaid\n *sequenceDiagram$", re.MULTILINE)
    assert not [page for page, text in racy.items() if not drawn.search(text)]
