"""One build of the site, one server and one browser for all tests; figures at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.browser.audits import AXE, OPEN_SHADOWS
from tests.browser.chromium import chromium, executable
from tests.browser.server import serve
from tests.support.site import built

_figures: Counter[str] = Counter()


@pytest.fixture(scope="session")
def figures() -> Counter[str]:
    """Return the counts that the run reports at its end."""
    return _figures


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report what was counted and measured."""
    if _figures:
        terminalreporter.section("browser")
        for name, value in _figures.items():
            terminalreporter.write_line(f"{value:>7} {name}")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Run Chromium, once for all tests."""
    with chromium(executable()) as running:
        yield running


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site, built strictly."""
    return built(tmp_path_factory)


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Serve the site; return its address."""
    with serve(site) as url:
        yield url


def _context(browser: Browser, scheme: str) -> BrowserContext:
    context = browser.new_context(
        color_scheme="dark" if scheme == "dark" else "light",
        viewport={"width": 1280, "height": 800},
        permissions=["clipboard-read", "clipboard-write"],
        reduced_motion="reduce",
    )
    context.set_default_timeout(20_000)
    context.add_init_script(OPEN_SHADOWS)
    context.add_init_script(path=AXE)
    return context


@pytest.fixture(scope="session")
def light(browser: Browser) -> Iterator[BrowserContext]:
    """Return a reader who prefers light colours."""
    with _context(browser, "light") as context:
        yield context


@pytest.fixture
def dark(browser: Browser) -> Iterator[BrowserContext]:
    """Return a reader who prefers dark colours."""
    with _context(browser, "dark") as context:
        yield context


@pytest.fixture
def reader(browser: Browser) -> Iterator[BrowserContext]:
    """Return a reader of one test, who has visited nothing and chosen nothing yet."""
    with _context(browser, "light") as context:
        yield context
