"""Read a page as the site's build reads it: which blocks it shows, and where each line is from.

The site's own Markdown steps run, in their own order, up to the one that reads fences. So includes,
front matter, tabs, admonitions, lists and quotes mean here what they mean in the build. No event of
a MkDocs plugin is fired and nothing is written; what a plugin adds to a page is seen only by the
check of the built site.
"""

import contextlib
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, cast

from markdown import Markdown
from markdown.extensions.attr_list import get_attrs_and_remainder
from markdown.extensions.fenced_code import FencedBlockPreprocessor
from mkdocs.config import (
    load_config,  # pyright: ignore[reportUnknownVariableType] - half annotated
)
from mkdocs.structure.files import get_files
from mkdocs.utils import meta
from pymdownx.snippets import SnippetPreprocessor
from pymdownx.superfences import SuperFencesBlockPreprocessor

from plugin_utils.docs_testing._block import Place
from plugin_utils.docs_testing._docstrings import docstrings
from plugin_utils.docs_testing._trace import IncludeStep, Trace

__all__ = ("Fence", "Page", "Site")

CONFIG_NAMES = ("mkdocs.yml", "mkdocs.yaml")
FENCE_LIKE = re.compile(r"[>\s]*(?:(?:[-*+]|\d+[.)])\s+)*(?:`{3,}[^`]*|~{3,}[^~]*)$")


@dataclass(frozen=True, slots=True)
class Fence:
    """A fence that the site's Markdown accepts as a code block."""

    language: str
    title: str
    source: str
    """The text that the block shows, with its indentation or quote marks taken away."""
    start: int
    """Index of the opening line in the expanded page; `end` is one past the closing line."""
    end: int


@dataclass(frozen=True, slots=True)
class Page:
    """A page after its includes, with the place that each line comes from."""

    path: Path
    lines: list[str]
    places: list[Place]
    fences: list[Fence]

    def outside(self) -> Iterator[int]:
        """Give the index of each line that no fence holds."""
        inside = {line for fence in self.fences for line in range(fence.start, fence.end)}
        return (number for number in range(len(self.lines)) if number not in inside)

    def stray_fences(self) -> Iterator[Place]:
        """Find the lines that look like a fence to a reader, but not to the build."""
        return (self.places[n] for n in self.outside() if FENCE_LIKE.match(self.lines[n]))


class Site:
    """The pages of one `mkdocs.yml`.

    Args:
        config_file: The site's configuration. Plugins that it names must be installed, since MkDocs
            loads them to read it; none of them is run.
    """

    def __init__(self, config_file: Path) -> None:
        self.config_file = config_file.resolve()
        self.root = self.config_file.parent
        with contextlib.chdir(self.root):
            self._config = load_config(str(self.config_file))
        self.docs = Path(self._config.docs_dir)

    @staticmethod
    def find(page: Path, otherwise: Path) -> Path:
        """Find the `mkdocs.yml` of a page: in its folder or above, or in the folder `otherwise`.

        Raises:
            FileNotFoundError: There is none.
        """
        for folder in (*page.resolve().parents, otherwise):
            for name in CONFIG_NAMES:
                if (folder / name).is_file():
                    return folder / name
        message = (
            f"{page} belongs to no MkDocs site: no {CONFIG_NAMES[0]} in its folder, above it, or "
            f"in {otherwise}. Name the site's configuration with the option docs_config."
        )
        raise FileNotFoundError(message)

    @cached_property
    def _sources(self) -> list[str]:
        """The folders in which mkdocstrings looks for packages."""
        plugin = cast("Any", self._config.plugins).get("mkdocstrings")
        handlers: dict[str, Any] = plugin.config.handlers if plugin else {}
        paths: list[str] = handlers.get("python", {}).get("paths", ["."])
        return [*(str(self.root / path) for path in paths), *sys.path]

    @cached_property
    def pages(self) -> dict[Path, str]:
        """The pages that the build publishes, with the HTML file of each, relative to the site."""
        files = get_files(self._config).documentation_pages()
        return {Path(file.abs_src_path or ""): file.dest_uri for file in files}

    def publishes(self, path: Path) -> bool:
        """Tell whether readers see the page; a file outside the docs folder (a README) they do."""
        return path in self.pages or not path.is_relative_to(self.docs)

    def has_pages(self, folder: Path) -> bool:
        """Tell whether the build publishes a page in the folder or below."""
        return any(page.is_relative_to(folder) for page in self.pages)

    def read(self, path: Path) -> Page:
        """Expand the page and find its fences."""
        return self.parse(path.read_text("utf-8-sig"), path)

    def docstrings(self, page: Page) -> Iterator[Page]:
        """Read the docstrings that mkdocstrings puts into the page, each as a page."""
        for number in page.outside():
            for text, file, line in docstrings(page.lines[number], self._sources):
                read = self.parse(text, file, includes=False)
                above = line - 1
                places = [Place(place.file, place.line + above) for place in read.places]
                yield replace(read, places=places)

    def parse(self, text: str, path: Path, *, includes: bool = True) -> Page:
        """Do what `read` does with a page's text; without `includes`, these stay as written."""
        body, _ = meta.get_data(text)
        above = text[: len(text) - len(body)].count("\n")
        with contextlib.chdir(self.root):  # as the build does: folders of snippets are relative
            md = Markdown(
                extensions=self._config.markdown_extensions,
                extension_configs=cast("dict[str, dict[str, Any]]", self._config.mdx_configs),
            )
            if not includes:
                md.preprocessors.deregister("snippet", strict=False)
            return _expand(md, body.split("\n"), path, above)


class FenceStep(Protocol):
    """What is used of `pymdownx.superfences`, which is not annotated."""

    lang: str | None
    options: dict[str, object]
    code: list[str]
    stack: list[object]
    process_nested_block: Callable[[str, str, int, int], None]

    def rebuild_block(self, lines: list[str]) -> str:
        """Return the text of the block without its indentation."""
        ...


def _expand(md: Markdown, lines: list[str], path: Path, above: int) -> Page:
    trace = Trace(lines, path, above)
    fences: list[Fence] = []
    reader = md.preprocessors["fenced_code_block"]
    if isinstance(reader, SuperFencesBlockPreprocessor):
        _record(cast("FenceStep", reader), fences)
    steps = list(md.preprocessors)
    for step in steps[: steps.index(reader) + 1]:
        run = step.run  # now, while its type is known: the classes below are not annotated
        if isinstance(step, SnippetPreprocessor):
            lines = trace.tag_page(lines, cast("IncludeStep", step))
        elif isinstance(step, SuperFencesBlockPreprocessor | FencedBlockPreprocessor):
            lines = trace.untag(lines)
        if isinstance(step, FencedBlockPreprocessor):
            fences.extend(_plain_fences(step, lines))
        lines = run(lines)
    return Page(path, trace.lines, trace.places, fences)


def _record(step: FenceStep, fences: list[Fence]) -> None:
    """Have each fence noted that SuperFences stores, with what it made of the opening line."""
    accept = step.process_nested_block

    def process_nested_block(indent: str, content: str, start: int, end: int) -> None:
        title = str(step.options.get("title", ""))  # now: the formatter empties the options
        fence = Fence((step.lang or "").lower(), title, step.rebuild_block(step.code), start, end)
        stored = len(step.stack)
        accept(indent, content, start, end)
        if len(step.stack) > stored:
            fences.append(fence)

    step.process_nested_block = process_nested_block


def _plain_fences(step: FencedBlockPreprocessor, lines: list[str]) -> Iterator[Fence]:
    """Find the fences of Python-Markdown's own extension, which MkDocs uses by default."""
    text = "\n".join(lines)
    for match in step.FENCED_BLOCK_RE.finditer(text):
        language, options = match["lang"] or "", dict[str, object]()
        if match["attrs"]:
            pairs, _ = get_attrs_and_remainder(match["attrs"])
            _, classes, options = step.handle_attrs(pairs)
            language = next(iter(classes), "")
        start = text.count("\n", 0, match.start())
        end = start + match[0].count("\n") + 1
        title, source = str(options.get("title", "")), match["code"].removesuffix("\n")
        yield Fence(language.lower(), title, source, start, end)
