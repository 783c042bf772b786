"""A page in the browser, with all that it complained of and asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, Page

__all__ = ("Watched", "open_page")

_LOCAL = {"data", "blob", "about"}


@dataclass(slots=True)
class Watched:
    """What is known of a page since it was opened."""

    page: Page
    name: str
    """The page's path on the site."""
    complaints: list[str] = field(default_factory=list[str])
    """Errors and warnings of the console, exceptions that no script caught, and failed loads."""
    requests: list[str] = field(default_factory=list[str])
    """The address of everything the page asked for."""

    def outside(self) -> list[str]:
        """Return the requests to other hosts than the one that served the page."""
        own = urlsplit(self.page.url).netloc
        return [
            url
            for url in self.requests
            if urlsplit(url).scheme not in _LOCAL and urlsplit(url).netloc != own
        ]


def open_page(context: BrowserContext, address: str, name: str) -> Watched:
    """Open the page `name` of the site at `address` in a new tab, and wait until it has loaded."""
    page = context.new_page()
    seen = Watched(page, name)
    page.on(
        "console",
        lambda message: (
            seen.complaints.append(f"{message.type}: {message.text}")
            if message.type in ("error", "warning")
            else None
        ),
    )
    page.on("pageerror", lambda error: seen.complaints.append(f"exception: {error}"))
    page.on("requestfailed", lambda request: seen.complaints.append(f"failed: {request.url}"))
    page.on("request", lambda request: seen.requests.append(request.url))
    page.goto(address + name, wait_until="load")
    return seen
