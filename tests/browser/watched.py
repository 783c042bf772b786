"""A page in the browser, with all that it complained of and asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Error, Page, Request

__all__ = ("Watched", "open_page", "visit")

_LOCAL = {"data", "blob", "about"}


@dataclass(eq=False)  # Playwright keeps what it makes of the listeners in attributes
class Watched:
    """What is known of a page since it was opened."""

    page: Page
    name: str
    """The page's path on the site."""
    complaints: list[str] = field(default_factory=list[str])
    """Errors and warnings of the console, exceptions that no script caught, and failed loads."""
    requests: list[str] = field(default_factory=list[str])
    """The address of everything the page asked for."""

    def watch(self) -> None:
        """Take down what happens in the tab from now on."""
        self.page.on("console", self._said)
        self.page.on("pageerror", self._threw)
        self.page.on("requestfailed", self._failed)
        self.page.on("request", self._asked)

    def leave(self) -> None:
        """End the page, and after it the watch: what comes next in this tab is not its doing."""
        self.page.goto("about:blank")
        self.page.remove_listener("console", self._said)
        self.page.remove_listener("pageerror", self._threw)
        self.page.remove_listener("requestfailed", self._failed)
        self.page.remove_listener("request", self._asked)

    def outside(self) -> list[str]:
        """Return the requests to other hosts than the one that served the page."""
        own = urlsplit(self.page.url).netloc
        return [
            url
            for url in self.requests
            if urlsplit(url).scheme not in _LOCAL and urlsplit(url).netloc != own
        ]

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def _threw(self, error: Error) -> None:
        self.complaints.append(f"exception: {error}")

    def _failed(self, request: Request) -> None:
        self.complaints.append(f"failed: {request.url}")

    def _asked(self, request: Request) -> None:
        self.requests.append(request.url)


def open_page(context: BrowserContext, address: str, name: str) -> Watched:
    """Open the page `name` of the site at `address` in a new tab, and wait until it has loaded."""
    return visit(context.new_page(), address, name)


def visit(tab: Page, address: str, name: str) -> Watched:
    """Go to the page `name` in a tab that was made for it or has left the one before."""
    seen = Watched(tab, name)
    seen.watch()
    tab.goto(address + name, wait_until="load")
    return seen
