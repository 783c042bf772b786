"""The listings that the pages show are what the explorer finds."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

from plugin_utils.testing import explore
from tests.interleaving.schedules import FOLDER, MODELS, VERSION, WITHOUT, find

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", MODELS)
def test_racy_snippet_has_a_schedule_that_fails(name: str) -> None:
    """On every Python a schedule is found; on the one that the listings are of, it is theirs."""
    if sys.version_info[:2] == VERSION:
        assert find(name) == (FOLDER / f"{name}.txt").read_text("utf-8"), "run: make schedules"
    else:
        watch = [import_module(f"snippets.racy.{name}")]
        assert explore(MODELS[name], watch=watch, bound=1).failure is not None


def test_each_racy_snippet_has_a_listing_or_a_reason() -> None:
    """A snippet that is added is not forgotten, and no listing is left over."""
    snippets = {path.stem for path in FOLDER.parent.glob("[!_]*.py")}
    in_no_table = snippets - MODELS.keys() - WITHOUT.keys()
    assert not in_no_table, "name it in MODELS or in WITHOUT, in tests/interleaving/schedules.py"
    assert snippets == MODELS.keys() | WITHOUT.keys()
    assert {path.stem for path in FOLDER.glob("*.txt")} == MODELS.keys(), "run: make schedules"


def test_each_listing_stands_on_a_page() -> None:
    """A reader finds every listing beside its snippet."""
    pages = [path.read_text("utf-8") for path in DOCS.rglob("*.md")]
    for name in MODELS:
        shown = f'--8<-- "snippets/racy/schedules/{name}.txt"'
        assert any(shown in page and f"racy/{name}.py" in page for page in pages), name
