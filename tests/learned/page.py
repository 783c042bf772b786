"""Writes docs/explanation/what-we-learned.md: what went wrong elsewhere, and what happens here."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support import marked
from tests.support.interpreters import ROOT

__all__ = ("KINDS", "PAGE", "Lesson", "collect", "lessons", "problems", "render")

PAGE = ROOT / "docs" / "explanation" / "what-we-learned.md"

KINDS = {
    "primitive": "First use",
    "reset": "Reset and close",
    "keyed": "One for each key",
    "reentrancy": "Re-entrancy",
    "async": "Coroutines",
    "fork": "Fork",
    "lazy-import": "Lazy imports",
    "honcho-config": "Honcho settings",
    "docs": "What documentation leaves out",
    "checker-target": "What a checker must see",
}
"""The page's sections, in order."""

_SOURCE = re.compile(r"([\w.-]+/[\w.-]+)#(\d+)")

_HEAD = """\
---
title: What we learned
description: Faults reported by other projects, what happens here, and the tests that show it.
---

# What we learned

Most faults that this guide speaks of have happened to somebody. Other projects have reported them
in public. This page tells each one twice: what happened there, and what happens here.

You can use it in two ways. Look for a symptom that you have seen: its lesson says what is right. Or
read a section before you write such code yourself.

Every lesson names the tests that show it. A few cannot occur here, and say why. This page is made
from the lessons and the tests: a lesson with neither a test nor a reason does not get here.
"""


@dataclass(frozen=True)
class Lesson:
    """A fault of other projects.

    Attributes:
        kind: One of `KINDS`.
        sources: The public reports, as `owner/repository#number`.
        elsewhere: What happened there.
        here: What is right, and happens here.
        cannot_occur: Why there is nothing here that a test could show.
    """

    kind: str
    sources: Sequence[str]
    elsewhere: str
    here: str
    cannot_occur: str = ""


def lessons() -> dict[str, Lesson]:
    """Return each lesson by its name."""
    parsed = tomllib.loads(Path(__file__).with_name("lessons.toml").read_text("utf-8"))
    return {name: Lesson(**lesson) for name, lesson in parsed.items()}


def collect() -> dict[str, list[str]]:
    """Return the tests of each lesson."""
    return marked.collect("learned", ["tests"])


def problems(told: Mapping[str, Lesson], tests: Mapping[str, Sequence[str]]) -> list[str]:
    """Say which lessons are not shown, not told, or told wrongly."""
    found = [f"no lesson is named {name!r}" for name in sorted(tests.keys() - told.keys())]
    seen: set[str] = set()
    for name, lesson in told.items():
        if lesson.kind not in KINDS:
            found.append(f"{name}: there is no kind {lesson.kind!r}")
        if name not in tests and not lesson.cannot_occur:
            found.append(f"{name}: no test shows it, and no reason says why it cannot occur")
        if name in tests and lesson.cannot_occur:
            found.append(f"{name}: a test shows it, and a reason says it cannot occur")
        for source in lesson.sources:
            if not _SOURCE.fullmatch(source):
                found.append(f"{name}: {source!r} is no source like 'owner/repository#1'")
            if source in seen:
                found.append(f"{name}: {source} is told already")
            seen.add(source)
        if not lesson.sources:
            found.append(f"{name}: it has no source")
    return found


def render(told: Mapping[str, Lesson], tests: Mapping[str, Sequence[str]]) -> str:
    """Return the page."""
    parts = [_HEAD]
    for kind, title in KINDS.items():
        section = {name: lesson for name, lesson in told.items() if lesson.kind == kind}
        if section:
            parts.append(f"## {title}\n")
            parts += [_lesson(name, each, tests.get(name, ())) for name, each in section.items()]
    return "\n".join(parts)


def _lesson(name: str, lesson: Lesson, tests: Sequence[str]) -> str:
    """Return a lesson's heading, which has the lesson's name as its anchor, and its text."""
    sources = ", ".join(map(_link, lesson.sources))
    return (
        f"### {name.replace('-', ' ').capitalize()}\n\n"
        f"**Elsewhere:** {lesson.elsewhere} ({sources})\n\n"
        f"**Here:** {lesson.here}\n\n"
        f"{_proof(lesson, tests)}\n"
    )


def _link(source: str) -> str:
    repository, _, number = source.partition("#")
    return f"[{source}](https://github.com/{repository}/issues/{number})"


def _proof(lesson: Lesson, tests: Sequence[str]) -> str:
    if lesson.cannot_occur:
        return f"**Cannot occur here:** {lesson.cannot_occur}"
    names = sorted({test.rpartition("::")[2] for test in tests})
    return "**Shown by:** " + ", ".join(f"`{name}`" for name in names)


def main() -> int:
    """Write the page, unless a lesson is not shown."""
    told, tests = lessons(), collect()
    wrong = problems(told, tests)
    if wrong:
        print(*wrong, sep="\n", file=sys.stderr)
        return 1
    PAGE.write_text(render(told, tests), "utf-8")
    print(f"{PAGE.relative_to(ROOT)}: {len(told)} lessons")
    return 0


if __name__ == "__main__":
    sys.exit(main())
