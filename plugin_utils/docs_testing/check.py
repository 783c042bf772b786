"""Compare the built site with the blocks that the tests run.

The HTML is the judge: what a reader can copy from a page has to be the text of a block that
`pytest --codeblocks` collects. Blocks that mkdocstrings makes of signatures and sources are counted
and left alone; an example in a docstring is a fence, which that collects, too, or a doctest, which
`--doctest-modules` runs.

This reads files and runs nothing.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

from plugin_utils.docs_testing._block import PageError, Place
from plugin_utils.docs_testing._extract import blocks
from plugin_utils.docs_testing._pages import Page, Site

__all__ = ("Result", "check", "copied")

API = frozenset({"doc-heading", "doc-signature", "mkdocstrings-source"})
LINE_NUMBERS = frozenset({"linenos", "linenodiv"})
VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "wbr"}
)
ANNOTATION = re.compile(
    r"[ \t]*(?:#|//|--|;|<!--)[ \t]*\(\d+\)!(?:[ \t]*-->)?[ \t]*$", re.MULTILINE
)


@dataclass(slots=True)
class Result:
    """What the check found: how many blocks of which kind, and what is wrong where."""

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """Sum up in one line."""
        kinds = ("found", "matched", "unmatched", "api", "docstring", "mermaid", "hidden")
        return ", ".join(f"{self.counts[kind]} {kind}" for kind in kinds)


def check(config: Path, built: Path) -> Result:
    """Match every `<pre>` of the built site with a block of the sources.

    Args:
        config: The site's `mkdocs.yml`.
        built: The folder that `mkdocs build` wrote.

    Returns:
        Counts: blocks `found` in the HTML; those `matched` with a block of their page, and of these
        `mermaid`; those `unmatched`; `api` signatures and sources; `docstring` examples; and blocks
        of a page that its HTML does not show (`hidden`). Problems begin with page and line.
    """
    result = Result()
    site = Site(config)
    pages = {html: _read(site, path) for path, html in site.pages.items()}
    everywhere = {text for parts in pages.values() for text in _texts(parts)}
    for name, (page, *docstrings) in pages.items():
        for part in (page, *docstrings):
            _check_source(part, result)
        if not (built / name).is_file():
            result.problems.append(f"{Place(str(page.path), 1)}: not built: no {built / name}")
    for file in sorted(built.rglob("*.html")):
        name = file.relative_to(built).as_posix()
        if name in pages:
            _check_page(pages[name], _shown(file), result)
        else:  # made by a plugin: an archive, a tag page, a print page
            _check_other(file, _shown(file), everywhere, result)
    return result


def _read(site: Site, path: Path) -> list[Page]:
    """Read a page, and the docstrings that it shows."""
    page = site.read(path)
    return [page, *site.docstrings(page)]


def _texts(parts: Iterable[Page]) -> Counter[str]:
    return Counter(copied(fence.source) for part in parts for fence in part.fences)


def copied(text: str) -> str:
    """Return what Copy makes of a block's text: no annotation marks, no blank lines around it."""
    return ANNOTATION.sub("", text).strip("\n").rstrip()


class _Pre(NamedTuple):
    """A `<pre>` of the HTML."""

    kind: str
    text: str


def _check_source(page: Page, result: Result) -> None:
    for place in page.stray_fences():
        message = "a fence to a reader, but not to MkDocs: never closed, or an unknown option"
        result.problems.append(f"{place}: {message}")
    try:
        blocks(page)
    except PageError as error:
        result.problems.append(str(error))


def _check_page(parts: list[Page], shown: list[_Pre], result: Result) -> None:
    page, known = parts[0], _texts(parts)
    for pre in shown:
        _count(pre, result)
        first = _first_line(pre.text)
        if pre.kind != "api" and known[copied(pre.text)]:
            known[copied(pre.text)] -= 1
            result.counts["matched"] += 1
        elif pre.kind == "docstring" and not pre.text.startswith(">>> "):
            result.counts["unmatched"] += 1
            message = f"an example in a docstring that no test runs: {first!r}"
            result.problems.append(f"{_locate_api(page)}: {message}")
        elif pre.kind in ("page", "mermaid"):
            result.counts["unmatched"] += 1
            place, what = _locate(page, first)
            result.problems.append(f"{place}: {what}, so no test runs it: {first!r}")
    diagrams = Counter(copied(fence.source) for fence in page.fences if fence.language == "mermaid")
    result.counts["hidden"] += (known - diagrams).total()


def _check_other(file: Path, shown: list[_Pre], known: set[str], result: Result) -> None:
    for pre in shown:
        _count(pre, result)
        if pre.kind in ("page", "mermaid"):
            matched = copied(pre.text) in known
            result.counts["matched" if matched else "unmatched"] += 1
            if not matched:
                message = "a block that is on no page of the sources, so no test runs it"
                result.problems.append(f"{file}: {message}: {_first_line(pre.text)!r}")


def _count(pre: _Pre, result: Result) -> None:
    result.counts["found"] += 1
    result.counts[pre.kind] += 1


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "").strip()


def _locate(page: Page, first: str) -> tuple[Place, str]:
    """Find the line of the page that an untested block begins at, and say what it is there."""
    opening = {fence.start for fence in page.fences}
    above = ""
    for number in sorted({*page.outside(), *opening}):
        line = page.lines[number]
        if unescape(line).strip().endswith(first):
            if number in opening:
                return page.places[number], "a fence that MkDocs shows as text"
            raw = "<pre" in line or "<pre" in above
            return page.places[number], "a raw <pre>" if raw else "an indented code block"
        above = line
    return Place(str(page.path), 1), "a block that is in no fence of the page"


def _locate_api(page: Page) -> Place:
    """Find the line that has mkdocstrings fill the page."""
    lines = (page.places[n] for n in page.outside() if page.lines[n].lstrip().startswith(":::"))
    return next(lines, Place(str(page.path), 1))


def _shown(file: Path) -> list[_Pre]:
    parser = _Reader()
    parser.feed(file.read_text("utf-8"))
    parser.close()
    return parser.found


class _Reader(HTMLParser):
    """Collects each `<pre>` with its text, and tells by the elements around it what it is."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[_Pre] = []
        self._open: list[tuple[str, set[str]]] = []
        self._text: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            classes = next((value or "" for name, value in attrs if name == "class"), "")
            self._open.append((tag, set(classes.split())))
        if tag == "pre":
            self._text = []

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "pre" and self._text is not None:
            around = set[str]().union(*(classes for _, classes in self._open))
            if not around & LINE_NUMBERS:
                self.found.append(_Pre(_kind(around), "".join(self._text)))
            self._text = None
        tags = [name for name, _ in self._open]
        if tag in tags:  # and with it whatever was left open inside
            del self._open[len(tags) - 1 - tags[::-1].index(tag) :]


def _kind(around: set[str]) -> str:
    if around & API:
        return "api"
    if "doc-contents" in around:
        return "docstring"
    return "mermaid" if "mermaid" in around else "page"
