"""The search answers in the words of those who have the problem, not of those who solved it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.watched import open_page

ANSWERS = {
    "client created twice": "how-to/share-one-client.html",
    "Event loop is closed": "how-to/two-event-loops.html",
    "reset between tests": "how-to/reset-in-tests.html",
    "gunicorn workers share connection": "how-to/after-fork.html",
    "is functools.cache thread safe": "explanation/why-not-cache.html",
    "optional import not installed": "how-to/optional-sdk.html",
    "new timeout ignored until restart": "how-to/rebuild-when-config-changed.html",
    "client has been closed while in use": "how-to/retire-while-in-use.html",
    "second profile gets wrong client": "how-to/one-client-per-profile.html",
    "deadlock factory calls itself": "explanation/reentrancy-and-deadlock.html",
    "mock the client in tests": "how-to/fake-in-a-slot.html",
    "retry after build failed": "how-to/recover-from-failed-build.html",
    "unclosed session at exit": "how-to/close-at-exit.html",
    "two processes one lock file": "how-to/once-per-machine.html",
    "no GIL": "how-to/free-threaded.html",
    "double-checked locking": "explanation/why-it-races.html",
    "two coroutines asyncio lock": "how-to/use-from-async.html",
    "plugin without dependencies vendor": "how-to/copy-into-a-plugin.html",
    "find races in my plugin": "how-to/find-races.html",
    "honcho api key missing": "how-to/connect-to-honcho.html",
}


@pytest.fixture(scope="module")
def start(light: BrowserContext, address: str) -> Page:
    """Open the start page, and the search on it."""
    page = open_page(light, address, "index.html").page
    page.keyboard.press("/")
    expect(page.get_by_role("textbox", name="Search")).to_be_focused()
    return page


def ask(page: Page, question: str) -> None:
    """Clear the search box, see the last answer gone, and type a question."""
    box = page.get_by_role("textbox", name="Search")
    for text in ("", question):
        box.fill(text)
        box.press("Shift")  # the theme searches when a key is let go
        if not text:
            about = page.locator(".md-search-result__meta")
            expect(about).to_have_text("Type to start searching")


def answers(page: Page, question: str) -> list[str]:
    """Return the pages that the search finds for a question, best first."""
    ask(page, question)
    results = page.locator(".md-search-result__item > .md-search-result__link")
    expect(results.first).to_be_visible()
    found: list[str] = results.evaluate_all("all => all.map(each => each.pathname.slice(1))")
    return found


@pytest.mark.parametrize("question", ANSWERS)
def test_search_leads_to_the_answer(start: Page, question: str) -> None:
    """The first result is the page that answers the question."""
    assert answers(start, question)[0] == ANSWERS[question]


def test_search_can_miss(start: Page) -> None:
    """A question that another page answers does not lead to this one: the check can fail."""
    assert answers(start, "glossary")[0] not in ANSWERS.values()


def test_search_finds_nothing_for_nonsense(start: Page) -> None:
    """Words that no page has lead nowhere, and the reader is told."""
    ask(start, "qzxwvk")
    expect(start.locator(".md-search-result__meta")).to_have_text(re.compile("No matching"))
