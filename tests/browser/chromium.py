"""The system's Chromium, driven by Playwright. No browser is ever downloaded.

Nothing leaves the machine: the flags end the browser's own traffic, and no name but that of this
host resolves. A page that asks for another host is seen asking, and gets an error.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

__all__ = ("REQUIRED", "chromium", "executable")

REQUIRED = "BROWSER_TESTS_REQUIRED"
"""The environment variable with which CI turns the absence of Chromium into a failure."""
_FLAGS = (
    "--no-first-run",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


def executable() -> str:
    """Find the browser that the system's packages installed.

    Without it the test is skipped; where `REQUIRED` is set, it fails.
    """
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path:
        return path
    reason = "Chromium is not installed; on Debian: apt-get install chromium"
    if os.environ.get(REQUIRED):
        pytest.fail(f"{reason} ({REQUIRED} is set)")
    pytest.skip(reason)


@contextmanager
def chromium(path: str) -> Generator[Browser]:
    """Run the browser, headless, without its sandbox, and with a profile of its own."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, headless=True, chromium_sandbox=False, args=_FLAGS
        )
        try:
            yield browser
        finally:
            browser.close()
