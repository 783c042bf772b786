"""Writes docs/reference/promises.md: every promise, and the tests that prove it."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support import marked
from tests.support.interpreters import ROOT, SUITE

__all__ = ("PAGE", "collect", "problems", "promises", "render")

PAGE = ROOT / "docs" / "reference" / "promises.md"

_HEAD = """\
---
title: Promises
description: What the primitives promise, and the tests that prove each promise.
---

# Promises

What you can rely on, case by case. Each promise is proved by the tests named beside it. They run on
every Python version that the library supports, free-threaded builds included; the two about types
run once, with mypy and basedpyright. This page is made from the tests: a promise without a test
does not get here.

| Number | Promise | Proved by |
|---|---|---|
"""


def promises() -> dict[int, str]:
    """Return the text of each promise."""
    texts = tomllib.loads(Path(__file__).with_name("promises.toml").read_text("utf-8"))["promises"]
    return {int(number): text for number, text in texts.items()}


def collect() -> dict[int, list[str]]:
    """Return the tests of each promise in the library's own suite."""
    tests = marked.collect("promise", (*SUITE, "tests/types"))
    return {int(number): names for number, names in tests.items()}


def problems(texts: Mapping[int, str], tests: Mapping[int, Sequence[str]]) -> list[str]:
    """Say for which numbers a text or a test is missing."""
    return [
        *(f"promise {number} has no test" for number in sorted(texts.keys() - tests.keys())),
        *(f"promise {number} has no text" for number in sorted(tests.keys() - texts.keys())),
    ]


def render(texts: Mapping[int, str], tests: Mapping[int, Sequence[str]]) -> str:
    """Return the page."""
    return _HEAD + "".join(
        f"| {number} | {texts[number]} | {_names(tests[number])} |\n" for number in sorted(texts)
    )


def _names(tests: Sequence[str]) -> str:
    return "<br>".join(f"`{test.rpartition('::')[2]}`" for test in sorted(tests))


def main() -> int:
    """Write the page, unless a promise lacks a test or a text."""
    texts, tests = promises(), collect()
    wrong = problems(texts, tests)
    if wrong:
        print(*wrong, sep="\n", file=sys.stderr)
        return 1
    PAGE.write_text(render(texts, tests), "utf-8")
    print(f"{PAGE.relative_to(ROOT)}: {len(texts)} promises")
    return 0


if __name__ == "__main__":
    sys.exit(main())
