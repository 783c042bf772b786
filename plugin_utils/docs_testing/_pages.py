"""Read a page as the site's build reads it: the code blocks it shows, and where each line is from.

The site's own Markdown preprocessors run, in their own order, up to the one that reads fences, so
includes, front matter, tabs, admonitions, lists and quotes mean here what they mean in the build.
No event of a MkDocs plugin is fired and nothing is written; what a plugin adds to a page is seen
only by the check of the built site.
"""

import contextlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path

import markdown
from markdown.extensions.attr_list import get_attrs_and_remainder
from markdown.extensions.fenced_code import FencedBlockPreprocessor
from mkdocs.config import load_config
from mkdocs.structure.files import get_files
from mkdocs.utils import meta
from pymdownx.snippets import SnippetPreprocessor
from pymdownx.superfences import SuperFencesBlockPreprocessor

from plugin_utils.docs_testing._block import Place

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

    def stray_fences(self) -> Iterator[Place]:
        """Find the lines that look like a fence to a reader, but not to the build."""
        inside = {line for fence in self.fences for line in range(fence.start, fence.end)}
        for number, line in enumerate(self.lines):
            if number not in inside and FENCE_LIKE.match(line):
                yield self.places[number]


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
        """Find the `mkdocs.yml` of a page: in its folder or above, or in the folder `otherwise`."""
        for folder in (*page.resolve().parents, otherwise):
            for name in CONFIG_NAMES:
                if (folder / name).is_file():
                    return folder / name
        message = (
            f"{page} belongs to no MkDocs site: no {CONFIG_NAMES[0]} in its folder, above it, or in "
            f"{otherwise}; its blocks would go untested. Name the file with the option docs_config."
        )
        raise FileNotFoundError(message)

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

    def parse(self, text: str, path: Path, *, includes: bool = True) -> Page:
        """Do what `read` does with text that may not be a file; `includes` are then optional."""
        body, _ = meta.get_data(text)
        above = text[: len(text) - len(body)].count("\n")
        with contextlib.chdir(self.root):  # as the build does, for relative snippet folders
            processor = markdown.Markdown(
                extensions=self._config.markdown_extensions,
                extension_configs=self._config.mdx_configs,
            )
            if not includes and "snippet" in processor.preprocessors:
                processor.preprocessors.deregister("snippet")
            return _expand(processor, body.split("\n"), path, above)


def _expand(md: markdown.Markdown, lines: list[str], path: Path, above: int) -> Page:
    trace = _Trace(lines, path, above)
    fences: list[Fence] = []
    reader = md.preprocessors["fenced_code_block"]
    if isinstance(reader, SuperFencesBlockPreprocessor):
        _record_superfences(reader, fences)
    for step in md.preprocessors:
        if isinstance(step, SnippetPreprocessor):
            lines = trace.tag_page(lines, step)
        elif isinstance(step, SuperFencesBlockPreprocessor | FencedBlockPreprocessor):
            lines = trace.untag(lines)
        if isinstance(step, FencedBlockPreprocessor):
            fences = _plain_fences(step, lines)
        lines = step.run(list(lines))
        if step is reader:
            break
    return Page(path, trace.lines, trace.places, fences)


def _record_superfences(step: SuperFencesBlockPreprocessor, fences: list[Fence]) -> None:
    """Have each fence noted when SuperFences stores it, with what it makes of the header."""
    accept = step.process_nested_block

    def process_nested_block(indent: str, content: str, start: int, end: int) -> None:
        title = str(step.options.get("title", ""))  # the formatter takes its options out
        fence = Fence((step.lang or "").lower(), title, step.rebuild_block(step.code), start, end)
        stored = len(step.stack)
        accept(indent, content, start, end)
        if len(step.stack) > stored:
            fences.append(fence)

    step.process_nested_block = process_nested_block


def _plain_fences(step: FencedBlockPreprocessor, lines: list[str]) -> list[Fence]:
    """Find the fences of Python-Markdown's own extension, which MkDocs uses by default."""
    text = "\n".join(lines)
    fences: list[Fence] = []
    for match in step.FENCED_BLOCK_RE.finditer(text):
        language, options = match["lang"] or "", {}
        if match["attrs"]:
            pairs, _ = get_attrs_and_remainder(match["attrs"])
            _, classes, options = step.handle_attrs(pairs)
            language = next(iter(classes), "")
        start = text.count("\n", 0, match.start())
        end = start + match[0].count("\n") + 1
        source = match["code"].removesuffix("\n")
        fences.append(Fence(language.lower(), str(options.get("title", "")), source, start, end))
    return fences


class _Trace:
    """Follows lines through the includes by a tag at their end: which file, which line.

    The tag is made of noncharacters, which no text has. It is on a line only between the include
    step and the fence step. Blank lines carry none, so that they stay blank; they, and the few
    lines that an include step must see unchanged, are placed after the line before them.
    """

    TAG = re.compile("\ufdd0(\\d+):(\\d+)\ufdd1")

    def __init__(self, lines: list[str], path: Path, above: int) -> None:
        self.source = lines
        self.files = [str(path)]
        self.above = above
        self.tagged = False
        self.lines: list[str] = []
        self.places: list[Place] = []

    def tag_page(self, lines: list[str], step: SnippetPreprocessor) -> list[str]:
        """Tag the page's own lines, and those of each file that the include step reads."""
        self.tagged = True
        read = step.read_lines

        def read_lines(file: str) -> list[str]:
            self.files.append(str(Path(file).resolve()))
            content = read(file)
            numbers = range(1, len(content) + 1)
            return self._tag(content, len(self.files) - 1, numbers, step.get_syntax_mask(content))

        step.read_lines = read_lines
        return self._tag(lines, 0, self._numbers(lines), step.get_syntax_mask(lines))

    def _numbers(self, lines: list[str]) -> list[int | None]:
        """Number the lines as the file has them; an earlier step may have added or removed some."""
        numbers: list[int | None] = [None] * len(lines)
        same = SequenceMatcher(None, self.source, lines, autojunk=False).get_matching_blocks()
        for before, after, size in same:
            for offset in range(size):
                numbers[after + offset] = self.above + before + offset + 1
        return numbers

    @staticmethod
    def _tag(
        lines: list[str], file: int, numbers: Iterable[int | None], mask: list[bool]
    ) -> list[str]:
        return [
            f"{line}\ufdd0{file}:{number}\ufdd1"
            # An escaped include (`;--8<--`) is content, but has to end its line.
            if number is not None and line.strip() and not notation and "8<-" not in line
            else line
            for line, number, notation in zip(lines, numbers, mask, strict=True)
        ]

    def untag(self, lines: list[str]) -> list[str]:
        """Take the tags off and keep what they said."""
        if self.lines:  # a second fence step: the tags are gone
            return lines
        if not self.tagged:
            lines = self._tag(lines, 0, self._numbers(lines), [False] * len(lines))
        place = Place(self.files[0], self.above)
        for line in lines:
            tag = self.TAG.search(line)
            place = (
                Place(self.files[int(tag[1])], int(tag[2]))
                if tag
                else Place(place.file, place.line + 1)
            )
            self.places.append(place)
            self.lines.append(self.TAG.sub("", line))
        return list(self.lines)
