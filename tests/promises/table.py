"""Writes docs/reference/promises.md: every promise, and the tests that prove it."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.interleaving.proofs import PROOFS, switches
from tests.support import marked
from tests.support.interpreters import ROOT, SUITE

__all__ = ("PAGE", "Threads", "collect", "problems", "promises", "render", "schedules", "threads")

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

What is promised of several threads is tested over their schedules as well:
[What is proved](proofs.md) has the cases. "All" means every schedule that matters, for two threads
or three; with a number of switches, those schedules in which a thread that could go on is made to
wait at most so many times.

| Number | Promise | Proved by | Schedules |
|---|---|---|---|
"""


class Threads(NamedTuple):
    """The promises that are about several threads.

    Args:
        about: Their numbers.
        unproved: Why some of them are not proved over all schedules.
    """

    about: frozenset[int]
    unproved: Mapping[int, str]


def promises() -> dict[int, str]:
    """Return the text of each promise."""
    return _numbered(_stated()["promises"])


def threads() -> Threads:
    """Return which promises are about several threads."""
    stated = _stated()["threads"]
    return Threads(frozenset(stated["about"]), _numbered(stated["unproved"]))


def _stated() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("promises.toml").read_text("utf-8"))


def _numbered(texts: Mapping[str, str]) -> dict[int, str]:
    return {int(number): text for number, text in texts.items()}


def collect() -> dict[int, list[str]]:
    """Return the tests of each promise in the library's own suite."""
    tests = marked.collect("promise", (*SUITE, "tests/types"))
    return {int(number): names for number, names in tests.items()}


def problems(
    texts: Mapping[int, str], tests: Mapping[int, Sequence[str]], concurrent: Threads
) -> list[str]:
    """Say for which numbers a text or a test is missing, of one kind or the other."""
    explored = {n for n, names in tests.items() if any(_is_proof(name) for name in names)}
    tested = {n for n, names in tests.items() if not all(_is_proof(name) for name in names)}
    expected = concurrent.about - concurrent.unproved.keys()
    untold = {n for n, text in texts.items() if "thread" in text.lower()} - concurrent.about
    return [
        *(f"promise {number} has no test" for number in sorted(texts.keys() - tested)),
        *(f"promise {number} has no text" for number in sorted(tests.keys() - texts.keys())),
        *(
            f"promise {number} has no proof over schedules"
            for number in sorted(expected - explored)
        ),
        *(f"promise {number} is proved, but not listed" for number in sorted(explored - expected)),
        *(f"promise {number} speaks of threads, but is not listed" for number in sorted(untold)),
    ]


def render(
    texts: Mapping[int, str], tests: Mapping[int, Sequence[str]], schedules: Mapping[int, str]
) -> str:
    """Return the page."""
    return _HEAD + "".join(
        f"| {number} | {texts[number]} | {_names(tests[number])} | {schedules.get(number, '')} |\n"
        for number in sorted(texts)
    )


def schedules() -> dict[int, str]:
    """Say over which schedules each promise about threads is proved, or why it is not."""
    said = {number: f"not: {why}" for number, why in threads().unproved.items()}
    for number in threads().about - said.keys():
        bounds = [proof.bound for proof in PROOFS if number in proof.promises]
        limits = [bound for bound in bounds if bound is not None]
        said[number] = f"all with at most {switches(min(limits))}" if limits else "all"
    return said


def _is_proof(test: str) -> bool:
    return test.startswith("tests/interleaving/")


def _names(tests: Sequence[str]) -> str:
    return "<br>".join(f"`{test.rpartition('::')[2]}`" for test in sorted(tests))


def main() -> int:
    """Write the page, unless a promise lacks a test or a text."""
    texts, tests = promises(), collect()
    wrong = problems(texts, tests, threads())
    if wrong:
        print(*wrong, sep="\n", file=sys.stderr)
        return 1
    PAGE.write_text(render(texts, tests, schedules()), "utf-8")
    print(f"{PAGE.relative_to(ROOT)}: {len(texts)} promises")
    return 0


if __name__ == "__main__":
    sys.exit(main())
