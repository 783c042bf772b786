"""What a reader does on the site, with a mouse, with a keyboard, on a phone and on paper."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.audits import PHONE, inaccessible, scheme, undrawn
from tests.browser.watched import open_page

WITH_TABS = "guide.html"
WITH_DIAGRAM = "how-to/share-one-client.html"
LEGIBLE = 10
"""Pixels: the height of a label in a diagram, at least."""


@pytest.fixture
def guide(reader: BrowserContext, address: str) -> Page:
    """Open the guide as a reader who comes for the first time."""
    return open_page(reader, address, WITH_TABS).page


def test_tabs_show_one_block_at_a_time(guide: Page) -> None:
    """Choosing a tab shows its block in the place of the other one."""
    tabs = guide.locator(".tabbed-set").first
    labels, blocks = tabs.locator(".tabbed-labels label"), tabs.locator(".tabbed-block")
    assert labels.count() >= 2
    for chosen in range(labels.count()):
        labels.nth(chosen).click()
        for number in range(labels.count()):
            expect(blocks.nth(number)).to_be_visible(visible=number == chosen)


def test_tabs_of_one_name_are_linked(guide: Page, address: str) -> None:
    """The tab chosen on one visit is chosen on the next."""
    label = guide.locator(".tabbed-labels label").nth(1)
    label.click()
    guide.goto(f"{address}{WITH_TABS}")
    expect(guide.locator(".tabbed-set > input").nth(1)).to_be_checked()


def test_palette_follows_the_system_then_the_reader(guide: Page, address: str) -> None:
    """A reader who chooses a palette keeps it, on other pages too."""
    assert scheme(guide) == "default"
    guide.get_by_title("Switch to the dark palette").click()
    assert scheme(guide) == "slate"
    guide.goto(f"{address}index.html")
    assert scheme(guide) == "slate"
    guide.get_by_title("Switch to the light palette").click()
    assert scheme(guide) == "default"


def test_dark_system_gets_the_dark_palette(dark: BrowserContext, address: str) -> None:
    """A reader whose system is dark starts in the dark palette, diagrams drawn."""
    page = open_page(dark, address, WITH_DIAGRAM).page
    assert scheme(page) == "slate"
    assert undrawn(page, 1) == []
    assert inaccessible(page) == []


@pytest.mark.parametrize("key", ["/", "s"])
def test_search_by_keyboard(guide: Page, key: str) -> None:
    """A key opens the search; words, an arrow and Enter lead to a page."""
    guide.keyboard.press(key)
    box = guide.get_by_role("textbox", name="Search")
    expect(box).to_be_focused()
    guide.keyboard.insert_text("free-threaded")  # at once: each key would draw the results anew
    guide.keyboard.press("Shift")  # the theme searches when a key is let go
    expect(guide.locator(".md-search-result__link").first).to_be_visible()
    guide.keyboard.press("ArrowDown")
    guide.keyboard.press("Enter")
    guide.wait_for_url("**/how-to/free-threaded.html*")


def test_search_closes_by_escape(guide: Page) -> None:
    """Escape leaves the search where the reader was."""
    guide.keyboard.press("/")
    box = guide.get_by_role("textbox", name="Search")
    expect(box).to_be_focused()
    guide.keyboard.press("Escape")
    expect(box).not_to_be_focused()
    assert guide.url.endswith(WITH_TABS)


def test_keyboard_reaches_copy_buttons(guide: Page) -> None:
    """Each Copy button is reached by Tab, and pressed by Enter."""
    button = guide.locator("button[data-md-type=copy]").first
    stops = guide.locator("a, button, input, label, [tabindex]").count()
    for _ in range(stops):
        guide.keyboard.press("Tab")
        if button.evaluate("each => each === document.activeElement"):
            break
    expect(button).to_be_focused()
    guide.keyboard.press("Enter")
    note = guide.get_by_role("status")
    expect(note).to_contain_text("Copied")


def test_first_tab_leads_past_the_navigation(guide: Page) -> None:
    """The first thing that Tab reaches is the way to the text."""
    guide.keyboard.press("Tab")
    expect(guide.get_by_role("link", name="Skip to content")).to_be_focused()


def test_phone_navigation(guide: Page) -> None:
    """On a phone, the menu opens at the page's section, and leads back to the others."""
    width, height = PHONE
    guide.set_viewport_size({"width": width, "height": height})
    drawer = guide.locator(".md-sidebar--primary")
    expect(drawer).not_to_be_in_viewport()
    guide.locator("label.md-header__button[for=__drawer]").click()
    expect(drawer).to_be_in_viewport()
    drawer.locator("label.md-nav__title[for^=__nav]", has_text="Guide").click()
    drawer.get_by_role("link", name="Start here").click()
    guide.wait_for_url("**/index.html")


def test_diagrams_can_be_read_on_a_phone(reader: BrowserContext, address: str) -> None:
    """On a phone a diagram is not shrunk until its labels are dust: it scrolls instead."""
    page = open_page(reader, address, WITH_DIAGRAM).page
    width, height = PHONE
    page.set_viewport_size({"width": width, "height": height})
    assert undrawn(page, 1) == []
    labels: list[float] = page.evaluate(
        """() => [...document.querySelector(".mermaid").shadowRoot.querySelectorAll("text")]
          .map(each => each.getBoundingClientRect().height)"""
    )
    assert labels
    assert min(labels) >= LEGIBLE
    assert page.evaluate("document.querySelector('.mermaid').tabIndex") == 0


def test_paper_shows_the_text_alone(guide: Page) -> None:
    """Printed, a page is its text in full, dark on white, without the tools around it."""
    guide.get_by_title("Switch to the dark palette").click()
    guide.emulate_media(media="print")
    expect(guide.locator("article h1")).to_be_visible()
    for tool in (".md-header", ".md-sidebar", ".md-tabs", ".md-code__nav", ".md-content__button"):
        for part in guide.locator(tool).all():
            expect(part).to_be_hidden()
    style = "getComputedStyle(document.querySelector('article'))"
    assert guide.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert sum(map(int, guide.evaluate(f"{style}.color.match(/\\d+/g).slice(0, 3)"))) < 300
    # Code wraps on paper, where nothing scrolls.
    for code in guide.locator("pre > code").all():
        assert code.evaluate("each => getComputedStyle(each).whiteSpace") == "pre-wrap"
