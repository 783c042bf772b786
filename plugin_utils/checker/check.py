"""Checking one module's source: parse, run every rule, keep one finding a slot and function."""

from __future__ import annotations

import ast
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.fixable import NoLockError, plan_for
from plugin_utils.checker.model import PARSE_ERROR, Finding, Level
from plugin_utils.checker.module import Module
from plugin_utils.checker.rules import RULES, Hit
from plugin_utils.checker.source import UNPARSABLE, lines_of, parse, unsilenced
from plugin_utils.checker.syntax import last_line

__all__ = ("check_source", "hits_in", "unparsable")

_DEPTH = 20_000


def check_source(text: str, path: str = "<string>") -> list[Finding]:
    """Return everything found in the module `text`, of every level, in the order of its lines.

    A text that is not Python gives one finding, `LS000`.
    """
    try:
        tree = parse(text)
        with _room_to_recurse():
            return sorted(unsilenced(_findings(tree, text, path), text))
    except UNPARSABLE as error:
        return [unparsable(error, path)]


@contextmanager
def _room_to_recurse() -> Generator[None]:
    """Let a long chain of `elif` be walked, each of which is nested in the one before it."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _DEPTH))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _findings(tree: ast.Module, text: str, path: str) -> list[Finding]:
    analysis = Analysis(Module(tree, text, path))
    hits = hits_in(analysis)
    lines = lines_of(text) if hits else []
    return [_located(code, hit, path, lines, analysis) for code, hit in hits]


def hits_in(analysis: Analysis) -> list[tuple[str, Hit]]:
    """Return what the rules found: one hit a slot and function, the surest, then the first."""
    kept: dict[tuple[str, str], tuple[str, Hit]] = {}
    for code, hit in _all_hits(analysis):
        key = (hit.function.qualname, hit.name)
        if key not in kept or hit.level > kept[key][1].level:
            kept[key] = (code, hit)
    return list(kept.values())


def _all_hits(analysis: Analysis) -> Iterator[tuple[str, Hit]]:
    for code, rule in RULES.items():
        for hit in rule.check(analysis):
            yield code, hit


def _located(code: str, hit: Hit, path: str, lines: list[str], analysis: Analysis) -> Finding:
    node = hit.node
    before = lines[node.lineno - 1].encode()[: node.col_offset]
    fixable, refusal = _fixable(hit, analysis)
    return Finding(
        path=path,
        line=node.lineno,
        column=len(before.decode()) + 1,
        end_line=_end(node),
        code=code,
        level=hit.level,
        function=hit.function.qualname,
        name=hit.name,
        message=hit.message,
        fixable=fixable,
        refusal=refusal,
    )


def _fixable(hit: Hit, analysis: Analysis) -> tuple[bool, str]:
    """Tell whether a hit can be fixed; and if only its lock stands in the way, what is amiss."""
    try:
        return hit.site is not None and plan_for(hit.site, analysis) is not None, ""
    except NoLockError as refusal:
        return False, str(refusal)


def _end(node: ast.stmt | ast.expr) -> int:
    """Return the last line of a finding, which is not its function's."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.lineno
    return last_line(node)


def unparsable(error: Exception, path: str) -> Finding:
    """Return the finding for a file that Python itself cannot read."""
    line = getattr(error, "lineno", None) or 1
    column = max(getattr(error, "offset", None) or 1, 1)
    reason = getattr(error, "msg", None) or str(error) or type(error).__name__
    message = f"cannot be parsed: {reason}"
    return Finding(path, line, column, line, PARSE_ERROR, Level.HIGH, "", "", message)
