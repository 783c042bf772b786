"""Audits of a page as the browser lays it out: each returns what is wrong, in words."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as Late

__all__ = (
    "AXE",
    "COLOURS",
    "OPEN_SHADOWS",
    "PHONE",
    "inaccessible",
    "scheme",
    "too_wide",
    "undrawn",
)

AXE = Path(__file__).with_name("vendor") / "axe.min.js"  # npm: axe-core 4.14.1
# Another palette changes nothing but colours. One of the rules with this tag is stricter than the
# levels A and AA of the guidelines, and axe-core leaves it out unless asked by tag.
COLOURS = """{
  runOnly: {type: "tag", values: ["cat.color"]},
  rules: {"color-contrast-enhanced": {enabled: false}}
}"""
PHONE = (360, 740)
OPEN_SHADOWS = """
  const attach = Element.prototype.attachShadow
  Element.prototype.attachShadow = function (options) {
    return attach.call(this, {...options, mode: "open"})
  }
"""
_DRAWN = """[...document.querySelectorAll(".mermaid")]
  .filter(each => each.shadowRoot?.querySelector("svg :is(path, line, rect)")).length"""


def inaccessible(page: Page, rules: str = "{}") -> list[str]:
    """Return the violations that axe-core finds, each with its elements.

    The page must have been opened with `AXE`. Style sheets are not fetched again: what they do is
    seen in the page as it is laid out. `rules` are options of axe-core, in JavaScript.
    """
    found: list[dict[str, str]] = page.evaluate(
        f"""async () => {{
          const found = await axe.run(
            {{resultTypes: ["violations"], preload: false, ...{rules}}})
          return found.violations.flatMap(
            ({{id, help, nodes}}) => nodes.map(({{html}}) => ({{id, help, html}})))
        }}"""
    )
    return [f"{each['id']}: {each['help']}: {each['html']}" for each in found]


def scheme(page: Page) -> str:
    """Return the palette that the page is shown in: `default`, or `slate`, the dark one."""
    return str(page.evaluate("document.body.dataset.mdColorScheme"))


def too_wide(page: Page) -> list[str]:
    """Return how far the page can be scrolled sideways, and the elements that make it so wide."""
    desk = page.viewport_size
    width, height = PHONE
    page.set_viewport_size({"width": width, "height": height})
    room: int = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    culprits: list[str] = page.evaluate(
        """() => [...document.body.querySelectorAll("*")]
          .filter(each => each.getBoundingClientRect().right > innerWidth)
          .map(each => each.outerHTML.slice(0, 120))"""
    )
    if desk:
        page.set_viewport_size(desk)
    return [f"{room} pixels wider than the screen", *culprits] if room > 0 else []


def undrawn(page: Page, expected: int, *, limit: float = 20) -> list[str]:
    """Wait until the page shows as many drawings as it has diagrams; say so if it never does.

    The page must have been opened with `OPEN_SHADOWS`: the theme draws into closed shadow trees.
    """
    with suppress(Late):
        page.wait_for_function(f"{_DRAWN} >= {expected}", timeout=limit * 1000)
    drawn: int = page.evaluate(_DRAWN)
    return [] if drawn == expected else [f"{drawn} of {expected} diagrams are drawn"]
