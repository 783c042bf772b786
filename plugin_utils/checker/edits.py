"""Changing a text by lines and names, without touching what is not meant."""

from __future__ import annotations

import ast
from collections import defaultdict

from plugin_utils.checker.source import lines_of

__all__ = ("Edits",)


class Edits:
    """Changes to one text, all given in terms of the text as it was."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        """Start with no change; `tree` is the syntax of `text`."""
        self._lines = lines_of(text)
        self._end = "\r\n" if self._lines and self._lines[0].endswith("\r\n") else "\n"
        self._inside_strings = _continuations(tree)
        self._before: dict[int, list[str]] = defaultdict(list)
        self._after: dict[int, list[str]] = defaultdict(list)
        self._indents: dict[int, str] = {}
        self._outdents: dict[int, str] = {}
        self._dropped: set[int] = set()
        self._words: dict[int, list[tuple[int, int, str]]] = defaultdict(list)

    def prefix(self, node: ast.stmt) -> str:
        """Return the white space before the first line of `node`."""
        line = self._lines[node.lineno - 1]
        return line[: len(line) - len(line.lstrip())]

    def insert_before(self, line: int, *new: str) -> None:
        """Put the lines `new` before `line`."""
        self._before[line] += new

    def insert_after(self, line: int, *new: str) -> None:
        """Put the lines `new` after `line`."""
        self._after[line] += new

    def indent(self, first: int, last: int, unit: str) -> None:
        """Move the lines from `first` to `last` in by `unit`, except inside a string."""
        for line in range(first, last + 1):
            if line not in self._inside_strings and self._lines[line - 1].strip():
                self._indents[line] = unit

    def replace(self, node: ast.expr | ast.stmt, new: str) -> None:
        """Put `new` in the place of `node`, which stands on one line."""
        end = node.end_col_offset or 0
        self._words[node.lineno].append((node.col_offset, end, new))

    def return_instead(self, store: ast.Assign) -> None:
        """Turn `slot = value` into `return value`."""
        line = self._lines[store.lineno - 1].encode()
        equals = line.index(b"=", store.targets[0].end_col_offset)
        self._words[store.lineno].append((store.col_offset, equals + 1, "return"))

    def outdent(self, first: int, last: int, unit: str) -> None:
        """Move the lines from `first` to `last` out by `unit`, except inside a string."""
        self._outdents.update(
            dict.fromkeys(set(range(first, last + 1)) - self._inside_strings, unit)
        )

    def drop(self, first: int, last: int) -> None:
        """Leave out the lines from `first` to `last`."""
        self._dropped.update(range(first, last + 1))

    def drop_with_blanks(self, first: int, last: int) -> None:
        """Leave out the lines from `first` to `last`, and the blank lines that parted them off."""
        while self._is_blank(first - 1) and self._is_blank(last + 1):
            first -= 1
        self.drop(first, last)

    def drop_through_blanks(self, first: int, last: int) -> None:
        """Leave out the lines from `first` to `last`, and the blank lines below them."""
        while self._is_blank(last + 1):
            last += 1
        self.drop(first, last)

    def _is_blank(self, line: int) -> bool:
        return 0 < line <= len(self._lines) and not self._lines[line - 1].strip()

    def apply(self) -> str:
        """Return the changed text."""
        out: list[str] = []
        for number, line in enumerate(self._lines, start=1):
            out += [new + self._end for new in self._before[number]]
            if number not in self._dropped:
                out.append(self._changed(number, line))
            if self._after[number] and out and not out[-1].endswith(("\n", "\r")):
                out[-1] += self._end
            out += [new + self._end for new in self._after[number]]
        return "".join(out)

    def _changed(self, number: int, line: str) -> str:
        data = line.encode()
        for start, end, new in sorted(self._words[number], reverse=True):
            data = data[:start] + new.encode() + data[end:]
        changed = data.decode().removeprefix(self._outdents.get(number, ""))
        return self._indents.get(number, "") + changed


def _continuations(tree: ast.Module) -> set[int]:
    """Return the lines that begin inside a string, where white space is text."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno is not None:
            lines.update(range(node.lineno + 1, node.end_lineno + 1))
    return lines
