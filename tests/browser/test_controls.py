"""Each check finds the fault that it is there for, on a small page that has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from plugin_utils.docs_testing._pages import Fence
from tests.browser import chromium, copying
from tests.browser.audits import COLOURS, inaccessible, too_wide, undrawn
from tests.browser.budgets import weigh
from tests.browser.server import serve
from tests.browser.watched import Watched, open_page, visit
from tests.support.waiting import wait_until

SOUND = """<!doctype html>
<html lang="en">
<title>A sound page</title>
<link rel="icon" href="data:,">
<main><h1>A sound page</h1>{}</main>
</html>
"""

COPY = """
<pre id="one"><code>{text}</code></pre>
<button data-md-type="copy">Copy</button>
<script>
  document.querySelector("button").onclick =
    () => navigator.clipboard.writeText(document.querySelector("#one").innerText)
</script>
"""
DRAW = """
<div class="mermaid" role="img" aria-label="A diagram"></div>
<script>
  document.querySelector(".mermaid").attachShadow({mode: "closed"}).innerHTML = "%s"
</script>
"""
DRAWING = "<svg><path d='M0 0L9 9'></path></svg>"

Show = Callable[[str], Watched]


@pytest.fixture
def show(reader: BrowserContext, tmp_path: Path) -> Iterator[Show]:
    """Return a function that opens a page with the given content."""
    with ExitStack() as stack:

        def opened(content: str) -> Watched:
            (tmp_path / "index.html").write_text(SOUND.format(content), "utf-8")
            return open_page(reader, stack.enter_context(serve(tmp_path)), "index.html")

        yield opened


def test_sound_page_passes(show: Show) -> None:
    """A page without a fault passes each check."""
    seen = show(COPY.format(text="x = 1") + DRAW % DRAWING)
    assert inaccessible(seen.page) == []
    assert undrawn(seen.page, 1) == []
    assert copying.difference(Counter(["x = 1"]), copying.yielded(seen.page)) == []
    assert too_wide(seen.page) == []
    assert seen.complaints == []
    assert seen.outside() == []


def test_copied_blanks_are_found(show: Show) -> None:
    """A button whose text differs by one blank from the tested one is found."""
    got = copying.yielded(show(COPY.format(text="x = 1 ")).page)
    assert got == ["x = 1 "]
    assert copying.difference(Counter(["x = 1"]), got) == [
        "copied, but not what is tested: 'x = 1 '",
        "tested, but not to be copied: 'x = 1'",
    ]


def test_dead_button_is_found(show: Show) -> None:
    """A button that does nothing does not pass with what was copied before."""
    page = show('<pre>x = 1</pre><button data-md-type="copy">Copy</button>').page
    assert copying.yielded(page) == ["nothing was copied"]


def test_missing_button_is_found(show: Show) -> None:
    """A tested block without a button is found, and so is one that cannot be seen."""
    page = show('<button data-md-type="copy" style="display: none">Copy</button>').page
    assert copying.difference(Counter(["x = 1"]), copying.yielded(page)) == [
        "tested, but not to be copied: 'x = 1'"
    ]


@pytest.mark.parametrize(
    ("language", "source", "runs"),
    [
        ("console", "$ true\n$ echo a \\\n> b\na b", "true\necho a \\\nb"),
        ("pycon", ">>> x = 1\n>>> if x:\n...     x\n1\n", "x = 1\nif x:\n    x"),
        ("python", ">>> 1\n1", "1"),
        ("python", "x = 1  # (1)!\n", "x = 1"),
        ("text", "$ shown", "$ shown"),
    ],
)
def test_what_the_runner_runs(language: str, source: str, runs: str) -> None:
    """Prompts, outputs and the marks of annotations are no part of what is compared."""
    assert copying.runnable(Fence(language, "", source, 0, 1)) == runs


def test_violations_are_found(show: Show) -> None:
    """An image without a text, and grey on grey, are violations."""
    seen = show('<img src="data:,"><p style="color: #999; background: #aaa">Faint</p>')
    found = inaccessible(seen.page)
    assert sorted(each.partition(":")[0] for each in found) == ["color-contrast", "image-alt"]


def test_faint_colours_are_found_alone(show: Show) -> None:
    """The rules about colours find what another palette can spoil, and look at nothing else."""
    seen = show('<img src="data:,"><p style="color: #999; background: #aaa">Faint</p>')
    found = inaccessible(seen.page, COLOURS)
    assert [each.partition(":")[0] for each in found] == ["color-contrast"]


def test_wide_page_is_found(show: Show) -> None:
    """A block wider than a phone is found, and named."""
    found = too_wide(show('<div id="wide" style="width: 500px">Wide</div>').page)
    assert "pixels wider than the screen" in found[0]
    assert any('id="wide"' in each for each in found)


@pytest.mark.parametrize("drawn", ["", "<svg></svg>"])
def test_empty_drawing_is_found(show: Show, drawn: str) -> None:
    """A diagram that is not drawn, or drawn with nothing in it, is found."""
    page = show(DRAW % drawn).page
    assert undrawn(page, 1, limit=0.2) == ["0 of 1 diagrams are drawn"]


def test_outside_requests_are_found(show: Show) -> None:
    """A request to another host is seen, and gets nowhere."""
    seen = show('<img alt="" src="http://cdn.invalid/pixel.png">')
    assert seen.outside() == ["http://cdn.invalid/pixel.png"]
    assert any("http://cdn.invalid/pixel.png" in each for each in seen.complaints)


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        ("<script>console.error('wrong')</script>", "error: wrong"),
        ("<script>console.warn('odd')</script>", "warning: odd"),
        ("<script>throw new Error('broken')</script>", "exception: broken"),
        ("<script>Promise.reject(new Error('late'))</script>", "exception: late"),
        ('<img alt="" src="gone.png">', "404"),
    ],
)
def test_complaints_are_found(show: Show, fault: str, complaint: str) -> None:
    """Errors, warnings, exceptions and missing files are seen."""
    seen = show(fault)

    def is_heard() -> bool:
        seen.page.title()  # what the page says arrives while it is asked something
        return any(complaint in each for each in seen.complaints)

    wait_until(is_heard)


def test_each_visit_is_watched_alone(reader: BrowserContext, tmp_path: Path) -> None:
    """In one tab, what a page says and asks for is taken down for it, and not for the others."""
    (tmp_path / "loud.html").write_text(SOUND.format("<script>console.error('1')</script>"))
    (tmp_path / "index.html").write_text(SOUND.format(""))
    with serve(tmp_path) as address, reader.new_page() as tab:
        loud = visit(tab, address, "loud.html")
        loud.leave()
        silent = visit(tab, address, "index.html")
        silent.leave()
    assert loud.complaints == ["error: 1"]
    assert loud.requests == [f"{address}loud.html"]
    assert silent.complaints == []
    assert silent.requests == [f"{address}index.html"]


def test_weight_is_found(show: Show) -> None:
    """The weight of a page counts what it loads, compressed."""
    light = weigh(show("").page)
    heavy = weigh(show(f"<p>{'%08x' * 4000}</p>" % tuple(range(0, 4000 * 7919, 7919))).page)
    assert 0 < light < 1000
    assert heavy > light + 5000


@pytest.mark.parametrize(
    ("required", "outcome"), [("", pytest.skip.Exception), ("1", pytest.fail.Exception)]
)
def test_absent_browser_fails_where_it_is_required(
    monkeypatch: pytest.MonkeyPatch, required: str, outcome: type[BaseException]
) -> None:
    """Without Chromium the tests are skipped with the reason; where it is required, they fail."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv(chromium.REQUIRED, required)
    with pytest.raises(outcome, match="apt-get install chromium"):
        chromium.executable()
