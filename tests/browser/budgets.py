"""What a page costs its reader."""

from __future__ import annotations

import gzip
from urllib.parse import urljoin

from playwright.sync_api import Page

__all__ = ("first_paint", "weigh")


def weigh(page: Page) -> int:
    """Return the bytes that the page and all it loads take on the wire, compressed by gzip."""
    loaded: list[str] = page.evaluate(
        "performance.getEntriesByType('resource').map(each => each.name)"
    )
    return sum(
        len(gzip.compress(page.request.get(urljoin(page.url, url)).body()))
        for url in {page.url, *loaded}
        if url.startswith("http")
    )


def first_paint(page: Page) -> int:
    """Return the milliseconds from the request of the page until a reader saw some of it."""
    name = "first-contentful-paint"
    at: float = page.evaluate(f"performance.getEntriesByName('{name}')[0].startTime")
    return round(at)
