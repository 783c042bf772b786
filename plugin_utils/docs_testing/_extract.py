"""Make tests of a page's fences; pytest-codeblocks does the reading.

The engine knows one way to write a fence. It is given a copy of the page in that way: the marks and
the fences that the build accepts, in their order, and nothing else. What it makes of them is joined
with what the page said about each fence, above all the place of each line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from typing import NamedTuple

from pytest_codeblocks import (
    extract_from_buffer,  # pyright: ignore[reportUnknownVariableType] - half annotated
)
from pytest_codeblocks.main import CodeBlock

from plugin_utils.docs_testing._aliases import canonical
from plugin_utils.docs_testing._block import Block, PageError, Place
from plugin_utils.docs_testing._pages import Fence, Page

__all__ = ("blocks",)

ENGINE = "pytest-codeblocks:"
SKIP_FILE = "<!--pytest-codeblocks:skipfile-->"
_PREFIX = re.compile(r"[>\s]*(?:(?:[-*+]|\d+[.)])\s+)*")
_MARK = re.compile(r"<!--[-\s]*(pytest-codeblocks:|pytest\.mark\.)(.*?)[-\s]*-->")
_NEARLY = re.compile(r"<!--[-\s]*pytest[-.]")
_OUTPUT = ("expected-output", "expected-output-ignore-whitespace")


class _Mark(NamedTuple):
    """A comment that the engine reads: `kind` is its prefix."""

    place: Place
    kind: str
    text: str


@dataclass(slots=True)
class _Step:
    """A fence with the marks above it."""

    fence: Fence
    place: Place
    lines: tuple[Place, ...]
    marks: list[_Mark]
    header: int = 0
    """The line of its opening fence in the engine's copy."""

    @property
    def role(self) -> str:
        """Tell whether the fence starts a block, or goes on with or is the output of the last."""
        words = (mark.text for mark in self.marks if mark.kind == ENGINE)
        return next((word for word in words if word in ("cont", *_OUTPUT)), "start")

    def write(self, copy: StringIO) -> None:
        """Write the marks and the fence as the engine reads them."""
        runs = re.findall("`{3,}", self.fence.source)
        ticks = "`" * max((len(run) + 1 for run in runs), default=3)
        body = f"{self.fence.source}\n" if self.lines else ""
        copy.writelines(f"<!--{mark.kind}{mark.text}-->\n" for mark in self.marks)
        self.header = copy.getvalue().count("\n") + 1
        copy.write(f"{ticks}{self.fence.language}\n{body}{ticks}\n")


def blocks(page: Page) -> list[Block]:
    """Return the tests that the page asks for, in order.

    Raises:
        PageError: A mark is malformed, or stands where it would have no effect or a wrong one.
    """
    copy = StringIO()
    steps = list(_steps(page))
    for step in steps:
        step.write(copy)
    copy.seek(0)
    try:
        found = {block.lineno: block for block in extract_from_buffer(copy, max_num_lines=10**9)}
    except RuntimeError as error:
        read = copy.getvalue()[: copy.tell()].count("\n")
        at = next(step.place for step in steps if read < step.header)
        raise PageError(at, str(error)) from None
    groups: list[list[_Step]] = []
    for step in steps:
        if step.header in found:
            groups.append([])
        groups[-1].append(step)
    skip = next((line for line in page.lines if line.strip()), "").strip() == SKIP_FILE
    return [_block(page, found[group[0].header], group, skip=skip) for group in groups]


def _steps(page: Page) -> Iterator[_Step]:
    starts = {fence.start: fence for fence in page.fences}
    inside = {line for fence in page.fences for line in range(fence.start + 1, fence.end)}
    marks: list[_Mark] = []
    for number, (line, place) in enumerate(zip(page.lines, page.places, strict=True)):
        if number in starts:
            fence = starts[number]
            yield _step(fence, place, tuple(page.places[number + 1 : fence.end - 1]), marks)
            marks = []
        elif number not in inside and (mark := _mark(line, place)):
            marks.append(mark)
    if marks:
        raise PageError(marks[0].place, "a mark with no block below it")


def _mark(line: str, place: Place) -> _Mark | None:
    text = _PREFIX.sub("", line, count=1).strip()
    if text == SKIP_FILE:
        return None
    match = _MARK.fullmatch(text)
    if match:
        return _Mark(place, match[1], match[2])
    if _NEARLY.match(text):
        message = f"not a mark, so it would have no effect: {text!r}; a mark fills its line"
        raise PageError(place, message)
    return None


def _step(fence: Fence, place: Place, lines: tuple[Place, ...], marks: list[_Mark]) -> _Step:
    step = _Step(fence, place, lines, marks)
    titled = canonical(fence.language) == "text" and fence.title.lower() == "output"
    if titled and step.role == "start":
        marks.append(_Mark(place, ENGINE, _OUTPUT[0]))
    if step.role != "start":
        for mark in marks:
            if mark.kind != ENGINE or mark.text.startswith("importorskip"):
                message = f"{mark.text!r} belongs above the block that this one goes on with"
                raise PageError(mark.place, message)
    return step


def _block(page: Page, block: CodeBlock, group: list[_Step], *, skip: bool) -> Block:
    first = group[0]
    parts = [step for step in group if step.role not in _OUTPUT]
    for part in parts:
        if canonical(part.fence.language) != canonical(first.fence.language):
            message = f"{part.fence.language!r} cannot go on with {first.fence.language!r}"
            raise PageError(part.place, message)
    marks = tuple(f"pytest.mark.not_run({SKIP_FILE!r})" for _ in range(skip))
    return Block(
        page=str(page.path),
        place=first.place,
        language=canonical(first.fence.language),
        title=first.fence.title,
        code=block.code or "\n",
        lines=tuple(line for part in parts for line in part.lines) or (first.place,),
        expected_output=block.expected_output,
        output_place=next((step.place for step in group if step.role in _OUTPUT), first.place),
        ignore_whitespace=block.expected_output_ignore_whitespace,
        importorskip=block.importorskip,
        marks=(*marks, *block.marks),
        fences=len(group),
    )
