"""What holds on each page of the site."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page

from plugin_utils.docs_testing._pages import Site
from tests.browser import copying
from tests.browser.audits import COLOURS, inaccessible, scheme, too_wide, undrawn
from tests.browser.watched import Watched, visit

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


# A new tab for each page costs the browser three times as much as going on in the old one.
@pytest.fixture(scope="module")
def tab(light: BrowserContext) -> Iterator[Page]:
    """Return the tab in which a reader reads page after page."""
    with light.new_page() as opened:
        yield opened


@pytest.fixture(scope="module", params=PAGES)
def seen(
    request: pytest.FixtureRequest, tab: Page, address: str, figures: Counter[str]
) -> Iterator[Watched]:
    """Visit each page once, for all tests of it."""
    watched = visit(tab, address, request.param)
    figures["pages"] += 1
    yield watched
    watched.leave()


def test_the_list_of_pages_is_complete(site: Path) -> None:
    """Every page of the built site is visited."""
    assert {file.relative_to(site).as_posix() for file in site.rglob("*.html")} == set(PAGES)


def test_diagrams_are_drawn(seen: Watched, figures: Counter[str]) -> None:
    """Each diagram of a page is drawn, and only pages with one load what draws it."""
    expected = diagrams(seen.name)
    figures["diagrams"] += expected
    assert undrawn(seen.page, expected) == []
    assert any(url.endswith(LIBRARY) for url in seen.requests) == bool(expected)


def test_light_page_is_accessible(seen: Watched, figures: Counter[str]) -> None:
    """axe-core finds no violation in the light palette."""
    assert scheme(seen.page) == "default"
    found = inaccessible(seen.page)
    figures["violations of accessibility"] += len(found)
    assert found == []


def test_dark_page_is_accessible(seen: Watched, figures: Counter[str]) -> None:
    """In the dark palette, none of the rules that look at colours finds a violation."""
    seen.page.get_by_title("Switch to the dark palette").click()
    assert scheme(seen.page) == "slate"
    found = inaccessible(seen.page, COLOURS)
    figures["violations of accessibility"] += len(found)
    seen.page.get_by_title("Switch to the light palette").click()
    assert scheme(seen.page) == "default"
    assert found == []


def test_copy_gives_the_tested_text(seen: Watched, figures: Counter[str]) -> None:
    """Each Copy button gives exactly a text that the tests run, and each such text has a button."""
    source = SOURCES.get(seen.name)
    expected = copying.tested(SITE, source) if source else Counter[str]()
    got = copying.yielded(seen.page)
    figures["Copy buttons pressed and compared"] += len(got)
    assert copying.difference(expected, got) == []


def test_page_fits_a_phone(seen: Watched) -> None:
    """On a screen 360 pixels wide nothing has to be scrolled sideways but blocks and tables."""
    assert too_wide(seen.page) == []


def test_page_stays_on_its_host(seen: Watched, figures: Counter[str]) -> None:
    """After all of that, the page has asked no other host for anything."""
    figures["requests"] += len(seen.requests)
    figures["requests to other hosts"] += len(seen.outside())
    assert seen.requests
    assert seen.outside() == []


def test_page_complains_of_nothing(seen: Watched) -> None:
    """After all of that, the console has no error and no warning."""
    assert seen.complaints == []
