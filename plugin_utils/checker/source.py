"""Reading a source file as Python does, and finding the comments that silence a finding."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from plugin_utils.checker.model import Finding

__all__ = ("UNPARSABLE", "Source", "decode", "lines_of", "parse", "read", "unsilenced")

UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What `parse` may raise for a text that is not Python, or more than Python can bear."""

_NOQA = re.compile(r"#\s*noqa\b(?P<codes>:\s*[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*)?", re.IGNORECASE)
_IGNORE = re.compile(r"#\s*plugin-utils:\s*ignore\[(?P<codes>[^\]]*)\](?P<reason>.*)")
_SEPARATORS = re.compile(r"[:,\s]+")


@dataclass(frozen=True, slots=True)
class Source:
    """A file's text, with what is needed to write it back as it was."""

    text: str
    encoding: str


def read(path: str) -> Source:
    """Read and decode a Python file.

    Raises:
        OSError: The file cannot be read.
        SyntaxError: As `decode` does.
        UnicodeError: As `decode` does.
    """
    return decode(Path(path).read_bytes())


def decode(data: bytes) -> Source:
    """Decode Python source by its byte order mark or its coding line; line ends stay as they are.

    Raises:
        SyntaxError: The coding line names no known encoding.
        UnicodeError: The bytes are not in the encoding that the file declares, or it declares none.
    """
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return Source(data.decode(encoding), encoding)


def parse(text: str) -> ast.Module:
    """Parse `text` without the warnings that concern its author only."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def lines_of(text: str) -> list[str]:
    """Split `text` at the line ends that Python knows, and keep them."""
    return list(io.StringIO(text, newline=""))


@dataclass(frozen=True, slots=True)
class _Silencer:
    """A comment that silences some codes on its line; no codes means all of them."""

    codes: tuple[str, ...]
    """Codes or beginnings of codes, as in the settings."""
    has_reason: bool = True

    def covers(self, finding: Finding) -> bool:
        return not self.codes or finding.code.startswith(self.codes)


def unsilenced(findings: list[Finding], text: str) -> list[Finding]:
    """Return the findings that no comment on their lines silences.

    A comment of this tool's own form silences nothing without a reason; the finding then says so.
    """
    if not _has_comment(findings, text):
        return findings
    silencers = _silencers(text)
    return [left for finding in findings if (left := _left(finding, silencers)) is not None]


def _has_comment(findings: list[Finding], text: str) -> bool:
    """Tell whether it is worth looking for comments: tokens take longer than everything else."""
    if not findings or ("noqa" not in text.lower() and "plugin-utils:" not in text):
        return False
    lines = lines_of(text)
    about = "".join(line for f in findings for line in lines[f.line - 1 : f.end_line])
    return "noqa" in about.lower() or "plugin-utils:" in about


def _left(finding: Finding, silencers: dict[int, list[_Silencer]]) -> Finding | None:
    lines = range(finding.line, finding.end_line + 1)
    covering = [s for line in lines for s in silencers.get(line, ()) if s.covers(finding)]
    if any(silencer.has_reason for silencer in covering):
        return None
    if covering:
        note = "; the comment that ignores it gives no reason, so it does not count"
        return replace(finding, message=finding.message + note)
    return finding


def _silencers(text: str) -> dict[int, list[_Silencer]]:
    found: dict[int, list[_Silencer]] = defaultdict(list)
    for line, comment in _comments(text):
        noqa = _NOQA.search(comment)
        if noqa:
            found[line].append(_Silencer(_codes(noqa["codes"] or "")))
        ignore = _IGNORE.search(comment)
        if ignore and _codes(ignore["codes"]):
            has_reason = bool(re.search(r"\w", ignore["reason"]))
            found[line].append(_Silencer(_codes(ignore["codes"]), has_reason))
    return found


def _codes(text: str) -> tuple[str, ...]:
    return tuple(filter(None, _SEPARATORS.split(text.upper())))


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield the comments of a text that parses, by line."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
