"""What the Copy buttons of a page give, and what the tests of the guide run.

The runner decides what a block is: of a console block it runs the `$` lines, of a session of the
interpreter the examples, of any other block the text. That is what a reader must get.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from doctest import DocTestParser
from itertools import takewhile
from pathlib import Path

from playwright.sync_api import Locator, Page

from plugin_utils.docs_testing._aliases import canonical
from plugin_utils.docs_testing._block import Place
from plugin_utils.docs_testing._pages import Fence, Site
from plugin_utils.docs_testing._shell import _commands
from plugin_utils.docs_testing.check import copied

__all__ = ("difference", "runnable", "tested", "yielded")

NOTHING_TO_COPY = "mermaid"


def tested(site: Site, page: Path) -> Counter[str]:
    """Return what the runner runs of each block of the page, its docstrings' included."""
    read = site.read(page)
    return Counter(
        runnable(fence)
        for part in (read, *site.docstrings(read))
        for fence in part.fences
        if fence.language != NOTHING_TO_COPY
    )


def runnable(fence: Fence) -> str:
    """Return what of the fence the runner runs."""
    language = canonical(fence.language)
    if language == "console":
        places = [Place("", 0)] * len(fence.source.splitlines())
        return "\n".join(command.text for command in _commands(fence.source, places))
    if language == "pycon" or (language == "python" and fence.source.lstrip().startswith(">>> ")):
        return "\n".join(_examples(fence.source))
    return copied(fence.source)


def _examples(session: str) -> Iterator[str]:
    """Return the lines of the examples; the blank one that ends a suite is typed, too."""
    lines = session.splitlines()
    for example in DocTestParser().get_examples(session):
        begin, prompt = example.lineno, example.indent + len(">>> ")
        yield lines[begin][prompt:]
        suite = takewhile(lambda line: line.lstrip().startswith("..."), lines[begin + 1 :])
        yield from (line[prompt:] for line in suite)


def yielded(page: Page) -> list[str]:
    """Press each Copy button that a reader can reach, and return what the clipboard then holds."""
    texts: list[str] = []
    for button in page.locator("button[data-md-type=copy]").all():
        reveal(button)
        if button.is_visible():
            page.evaluate("navigator.clipboard.writeText('nothing was copied')")
            button.click()
            texts.append(page.evaluate("navigator.clipboard.readText()"))
    return texts


def reveal(inside: Locator) -> None:
    """Open the tab and the boxes that the element is in, as a reader does to see it."""
    inside.evaluate(
        """element => {
          for (let at = element; at; at = at.parentElement) {
            if (at.tagName === "DETAILS") at.open = true
            if (at.classList.contains("tabbed-block")) {
              const position = [...at.parentElement.children].indexOf(at)
              at.closest(".tabbed-set").querySelectorAll(":scope > input")[position].click()
            }
          }
        }"""
    )


def difference(expected: Counter[str], got: list[str]) -> list[str]:
    """Say which texts of the buttons no test runs, and which tested ones no button gives."""
    found = Counter(got)
    return [
        *(f"copied, but not what is tested: {text!r}" for text in (found - expected).elements()),
        *(f"tested, but not to be copied: {text!r}" for text in (expected - found).elements()),
    ]
