"""The site's script takes the typed lines out of a session as the runner does."""

from __future__ import annotations

from html import escape
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from plugin_utils.docs_testing._pages import Fence
from tests.browser.copying import runnable

SCRIPT = Path(__file__).parents[2] / "docs/assets/javascripts/blocks.js"
PAGE = """
<div class="language-{} highlight"><pre><code>{}</code></pre></div>
<div class="md-dialog"></div>
"""
SESSIONS = {
    "commands": ("console", "$ echo a\n$ echo b\n"),
    "output": ("console", "$ echo a\na\n\n$ echo b\nb\n"),
    "output like a prompt of root": ("console", "$ cat file\n# A heading\n> a quote\n$ true\n"),
    "continued by a prompt": ("console", "$ for x in 1 2\n> do echo $x\n> done\n1\n2\n"),
    "continued by a backslash": ("console", "$ echo a \\\n    b\na b\n"),
    "redirection": ("console", "$ echo > file\n"),
    "examples": ("pycon", ">>> x = 1\n>>> x\n1\n"),
    "suite": ("pycon", ">>> for x in (1, 2):\n...     print(x)\n...\n1\n2\n>>> x\n2\n"),
    "traceback": (
        "pycon",
        ">>> 1 / 0\nTraceback (most recent call last):\n  ...\nZeroDivisionError: no\n>>> 2\n2\n",
    ),
    "session in a python block": ("python", ">>> x = 1\n>>> x\n1\n"),
}


@pytest.mark.parametrize(("language", "source"), SESSIONS.values(), ids=SESSIONS)
def test_typed_lines(reader: BrowserContext, language: str, source: str) -> None:
    """What Copy will give is what the runner runs."""
    page = reader.new_page()
    page.set_content(PAGE.format(language, escape(source)))
    page.add_script_tag(path=SCRIPT)
    page.evaluate("dispatchEvent(new Event('load'))")
    copy = page.locator(".highlight").get_attribute("data-copy")
    assert copy == runnable(Fence(language, "", source, 0, 1))


def test_other_blocks_are_copied_as_they_are(reader: BrowserContext) -> None:
    """A block that only looks like a session is left to the theme."""
    page = reader.new_page()
    page.set_content(PAGE.format("text", "$ shown"))
    page.add_script_tag(path=SCRIPT)
    page.evaluate("dispatchEvent(new Event('load'))")
    assert page.locator(".highlight").get_attribute("data-copy") is None
