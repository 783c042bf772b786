"""Follow the lines of a page through its includes."""

import re
from collections.abc import Callable, Iterable
from difflib import SequenceMatcher
from pathlib import Path
from typing import Protocol

from plugin_utils.docs_testing._block import Place

__all__ = ("IncludeStep", "Trace")


class IncludeStep(Protocol):
    """What is used of `pymdownx.snippets`, which is not annotated."""

    read_lines: Callable[[str], list[str]]

    def get_syntax_mask(self, lines: list[str]) -> list[bool]:
        """Tell which lines are include notation."""
        ...


class Trace:
    """Tags each line with its file and number before the includes, and reads the tags after.

    The tag is made of noncharacters, which no text has, and stands at the end of the line, where no
    step between includes and fences looks. Blank lines get none, so that they stay blank; they, and
    the lines that are include notation, count as the line after the one before them.

    Args:
        lines: The page as written, without its front matter.
        path: The page's file.
        above: How many lines of the file the front matter takes.
    """

    TAG = re.compile("\ufdd0(\\d+):(\\d+)\ufdd1")

    def __init__(self, lines: list[str], path: Path, above: int) -> None:
        self.lines: list[str] = []
        self.places: list[Place] = []
        self._source = lines
        self._above = above
        self._files = [str(path)]
        self._tagged = False

    def tag_page(self, lines: list[str], step: IncludeStep | None) -> list[str]:
        """Tag the page's own lines, and have `step` tag those of each file that it reads."""
        self._tagged = True
        if step is None:
            return self._tag(lines, 0, self._numbers(lines), [False] * len(lines))
        read, mask = step.read_lines, step.get_syntax_mask

        def read_lines(path: str) -> list[str]:
            included = read(path)
            self._files.append(str(Path(path).resolve()))
            numbers = range(1, len(included) + 1)
            return self._tag(included, len(self._files) - 1, numbers, mask(included))

        step.read_lines = read_lines
        return self._tag(lines, 0, self._numbers(lines), mask(lines))

    def untag(self, lines: list[str]) -> list[str]:
        """Take the tags off, and keep in `lines` and `places` what they said."""
        if self.lines:  # a second step that reads fences
            return lines
        if not self._tagged:
            lines = self.tag_page(lines, None)
        place = Place(self._files[0], self._above)
        for line in lines:
            tag = self.TAG.search(line)
            if tag:
                place = Place(self._files[int(tag[1])], int(tag[2]))
            else:
                place = Place(place.file, place.line + 1)
            self.places.append(place)
            self.lines.append(self.TAG.sub("", line))
        return list(self.lines)

    def _numbers(self, lines: list[str]) -> list[int | None]:
        """Number the lines as the file has them; an earlier step may have added or removed some."""
        numbers: list[int | None] = [None] * len(lines)
        same = SequenceMatcher(None, self._source, lines, autojunk=False).get_matching_blocks()
        for before, after, size in same:
            for offset in range(size):
                numbers[after + offset] = self._above + before + offset + 1
        return numbers

    @staticmethod
    def _tag(
        lines: list[str], file: int, numbers: Iterable[int | None], notation: list[bool]
    ) -> list[str]:
        return [
            # An escaped include (`;--8<--`) is content, but it is known by how its line ends.
            line
            if number is None or hidden or not line.strip() or "8<-" in line
            else f"{line}\ufdd0{file}:{number}\ufdd1"
            for line, number, hidden in zip(lines, numbers, notation, strict=True)
        ]
