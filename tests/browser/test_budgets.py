"""What the start page costs its reader."""

from __future__ import annotations

from collections import Counter

from playwright.sync_api import BrowserContext

from tests.browser.budgets import first_paint, weigh
from tests.browser.watched import open_page

LIMIT = 350_000
"""Bytes on the wire for a reader who has visited nothing yet."""


def test_start_page_is_light(reader: BrowserContext, address: str, figures: Counter[str]) -> None:
    """The start page, with all that it loads, stays within its budget."""
    seen = open_page(reader, address, "index.html")
    size = weigh(seen.page)
    figures["bytes of the start page on the wire"] = size
    figures["milliseconds to its first contentful paint"] = first_paint(seen.page)
    assert 20_000 < size < LIMIT
