"""What holds on each page of the site."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from plugin_utils.docs_testing._pages import Site
from tests.browser import copying
from tests.browser.audits import inaccessible, too_wide, undrawn
from tests.browser.watched import Watched, open_page

ROOT = Path(__file__).parents[2]
SITE = Site(ROOT / "mkdocs.yml")
SOURCES = {name: path for path, name in SITE.pages.items()}
NO_SOURCE = "404.html"  # the theme's own page for wrong addresses
PAGES = (*sorted(SOURCES), NO_SOURCE)
LIBRARY = "assets/vendor/mermaid.tiny.js"


@cache
def diagrams(name: str) -> int:
    """Count the diagrams that the page's source has."""
    if name == NO_SOURCE:
        return 0
    return sum(fence.language == "mermaid" for fence in SITE.read(SOURCES[name]).fences)


@pytest.fixture(scope="module", params=PAGES)
def visit(
    request: pytest.FixtureRequest, light: BrowserContext, address: str, figures: Counter[str]
) -> Iterator[Watched]:
    """Open each page once, for all tests of it."""
    seen = open_page(light, address, request.param)
    figures["pages"] += 1
    yield seen
    seen.page.close()


def test_the_list_of_pages_is_complete(site: Path) -> None:
    """Every page of the built site is visited."""
    assert {file.relative_to(site).as_posix() for file in site.rglob("*.html")} == set(PAGES)


def test_diagrams_are_drawn(visit: Watched, figures: Counter[str]) -> None:
    """Each diagram of a page is drawn, and only pages with one load what draws it."""
    expected = diagrams(visit.name)
    figures["diagrams"] += expected
    assert undrawn(visit.page, expected) == []
    assert any(url.endswith(LIBRARY) for url in visit.requests) == bool(expected)


def test_light_page_is_accessible(visit: Watched, figures: Counter[str]) -> None:
    """axe-core finds no violation in the light palette."""
    assert visit.page.evaluate("document.body.dataset.mdColorScheme") == "default"
    found = inaccessible(visit.page)
    figures["violations of accessibility"] += len(found)
    assert found == []


def test_dark_page_is_accessible(
    visit: Watched, dark: BrowserContext, address: str, figures: Counter[str]
) -> None:
    """axe-core finds no violation in the dark palette."""
    seen = open_page(dark, address, visit.name)
    try:
        assert seen.page.evaluate("document.body.dataset.mdColorScheme") == "slate"
        assert undrawn(seen.page, diagrams(visit.name)) == []
        found = inaccessible(seen.page)
        figures["violations of accessibility"] += len(found)
        assert found == []
    finally:
        seen.page.close()


def test_copy_gives_the_tested_text(visit: Watched, figures: Counter[str]) -> None:
    """Each Copy button gives exactly a text that the tests run, and each such text has a button."""
    source = SOURCES.get(visit.name)
    expected = copying.tested(SITE, source) if source else Counter[str]()
    got = copying.yielded(visit.page)
    figures["Copy buttons pressed and compared"] += len(got)
    assert copying.difference(expected, got) == []


def test_page_fits_a_phone(visit: Watched) -> None:
    """On a screen 360 pixels wide nothing has to be scrolled sideways but blocks and tables."""
    assert too_wide(visit.page) == []


def test_page_stays_on_its_host(visit: Watched, figures: Counter[str]) -> None:
    """After all of that, the page has asked no other host for anything."""
    figures["requests"] += len(visit.requests)
    figures["requests to other hosts"] += len(visit.outside())
    assert visit.requests
    assert visit.outside() == []


def test_page_complains_of_nothing(visit: Watched) -> None:
    """After all of that, the console has no error and no warning."""
    assert visit.complaints == []
