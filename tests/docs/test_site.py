"""The built site: complete, and content without a network."""

import hashlib
import re
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest

from tests.docs import built
from tests.support.planted import traces_below

ROOT = Path(__file__).parents[2]
LOADS = {"src", "srcset", "data", "poster", "action"}
VENDORED = {
    # npm: @mermaid-js/tiny 11.12.0, the last one whose diagrams take the colours of the theme
    "mermaid.tiny.js": "082c50b982106e4332e6eef4da54b50897036c80ea29ef2753956c1bba5a14d4",
    # npm: iframe-worker 1.0.4
    "iframe-worker.js": "e8e412dbcfea9b7e31b5ffa288d7b6035915e714c542f4176a0cdbe262fc9609",
}


def loaded(page: Path) -> list[str]:
    """Return what a browser fetches for a page by itself; links wait for a click."""
    found: list[str] = []
    for element in built.read(page):
        found += [url for name, url in element.attributes.items() if name in LOADS]
        if element.tag == "link" and element.attributes.get("rel") != "canonical":
            found.append(element.attributes["href"])
    return found


def target(site: Path, page: Path, url: str) -> Path:
    """Return the file that a URL of a page leads to. The page for wrong ones has absolute URLs."""
    path = urlsplit(url).path
    return site / path[1:] if path.startswith("/") else page.parent / path


def test_pages_load_nothing_from_another_host(site: Path, pages: list[Path]) -> None:
    """All that a page fetches by itself is a file of the site, and is there."""
    assert len(pages) > 10
    missing = [
        f"{page.relative_to(site)}: {url}"
        for page in pages
        for url in loaded(page)
        if not url.startswith("data:")
        and (urlsplit(url).netloc or not target(site, page, url).is_file())
    ]
    assert not missing


def test_styles_load_nothing_from_another_host(site: Path) -> None:
    """No style sheet imports one, or shows an image or a font, from elsewhere."""
    sheets = list(site.rglob("*.css"))
    assert sheets
    for sheet in sheets:
        text = sheet.read_text("utf-8")
        assert not re.search(r"@import|url\(\s*[\"']?(?:https?:)?//", text), sheet


def test_pages_with_a_diagram_bring_what_draws_it(pages: list[Path]) -> None:
    """A page loads the vendored library if it has a diagram, and before the theme looks for it."""
    drawn = 0
    for page in pages:
        elements = built.read(page)
        scripts = [element.attributes.get("src", "") for element in elements]
        library = [n for n, src in enumerate(scripts) if src.endswith("vendor/mermaid.tiny.js")]
        theme = [n for n, src in enumerate(scripts) if "javascripts/bundle." in src]
        if any("mermaid" in element.classes for element in elements):
            drawn += 1
            assert library, page
            assert library < theme, page
        else:
            assert not library, page
    assert drawn


def test_the_theme_asks_no_forge(pages: list[Path]) -> None:
    """No page has the element for which the theme calls the API of a forge."""
    for page in pages:
        components = {each.attributes.get("data-md-component") for each in built.read(page)}
        assert "source" not in components, page


@pytest.mark.parametrize("name", VENDORED)
def test_vendored_files_are_the_published_ones(name: str) -> None:
    """A vendored file is byte for byte the one of its package, and brings its licence."""
    file = ROOT / "docs/assets/vendor" / name
    assert hashlib.sha256(file.read_bytes()).hexdigest() == VENDORED[name]
    licence = file.with_name(name.partition(".")[0] + ".LICENSE.txt")
    assert "Permission is hereby granted" in licence.read_text("utf-8")


def test_every_page_is_in_the_navigation(site: Path, pages: list[Path]) -> None:
    """From any page a reader can go to every other one."""
    linked = {
        urljoin("index.html", element.attributes["href"]).partition("#")[0]
        for element in built.read(site / "index.html")
        if element.tag == "a" and "md-nav__link" in element.classes
    }
    shown = {page.relative_to(site).as_posix() for page in pages}
    assert shown - linked == {"404.html"}


def test_every_page_can_be_edited_and_has_a_date(site: Path, pages: list[Path]) -> None:
    """A page links to its source, and says when it was last changed."""
    for page in pages:
        if page.name == "404.html":
            continue
        elements = built.read(page)
        edit = [
            each.attributes["href"] for each in elements if each.attributes.get("rel") == "edit"
        ]
        source = page.relative_to(site).with_suffix(".md").as_posix()
        assert [url.endswith(f"/docs/{source}") for url in edit] == [True], page
        dates = [each for each in elements if "git-revision-date-localized-plugin" in each.classes]
        assert dates, page


def test_a_wrong_address_leads_back(site: Path) -> None:
    """The page for a wrong address links to the start page."""
    page = site / "404.html"
    links = [each.attributes["href"] for each in built.read(page) if each.tag == "a"]
    assert site / "index.html" in {target(site, page, link) for link in links}


def test_search_works_without_a_server(site: Path) -> None:
    """The index is there as a script too, since a page opened as a file may not fetch one."""
    index = (site / "search/search_index.js").read_text("utf-8")
    assert index.startswith("var __index = ")
    for word in ("RecursiveBuildError", "HONCHO_API_KEY", "notes.db"):
        assert word in index


def test_the_site_holds_no_key_of_whoever_built_it(site: Path) -> None:
    """The builder's home and environment have one; no page, index or map shows it."""
    assert (site / "index.html").is_file()
    assert traces_below(site) == []
