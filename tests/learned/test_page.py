"""The page of lessons says what the lessons and the tests say."""

from dataclasses import replace

import pytest

from tests.learned import page
from tests.learned.page import Lesson

LESSON = Lesson("reset", ("who/what#1", "who/else#2"), "It broke.", "It holds.")


@pytest.fixture(scope="module")
def tests() -> dict[str, list[str]]:
    """Return the tests of each lesson."""
    return page.collect()


def test_every_lesson_is_shown_or_cannot_occur(tests: dict[str, list[str]]) -> None:
    """Each lesson has a test or a reason, and each marker a lesson."""
    assert page.problems(page.lessons(), tests) == []


def test_page_is_current(tests: dict[str, list[str]]) -> None:
    """The page is what the lessons and the tests make of it."""
    text = page.PAGE.read_text("utf-8")
    assert text == page.render(page.lessons(), tests), "run: make learned"


def test_every_kind_has_a_lesson() -> None:
    """No section of the page is forgotten."""
    assert {lesson.kind for lesson in page.lessons().values()} == set(page.KINDS)


SHOWN = {"odd": ["test"]}
WRONG: dict[str, tuple[Lesson, dict[str, list[str]]]] = {
    "no test shows it, and no reason says why it cannot occur": (LESSON, {}),
    "a test shows it, and a reason says it cannot occur": (
        replace(LESSON, cannot_occur="No b."),
        SHOWN,
    ),
    "there is no kind 'rest'": (replace(LESSON, kind="rest"), SHOWN),
    "'what#1' is no source like 'owner/repository#1'": (
        replace(LESSON, sources=("what#1",)),
        SHOWN,
    ),
    "it has no source": (replace(LESSON, sources=()), SHOWN),
}


@pytest.mark.parametrize("problem", WRONG)
def test_what_is_wrong_with_a_lesson_is_told(problem: str) -> None:
    """With the lesson's name."""
    lesson, tests = WRONG[problem]
    assert page.problems({"odd": lesson}, tests) == [f"odd: {problem}"]


def test_marker_of_no_lesson_is_told() -> None:
    """A name that is misspelt in a marker shows nothing."""
    assert page.problems({}, {"odd": ["test"]}) == ["no lesson is named 'odd'"]


def test_source_belongs_to_one_lesson() -> None:
    """The same report teaches the same lesson."""
    told = {"one": LESSON, "other": replace(LESSON, sources=("who/else#2",))}
    tests = {"one": ["test"], "other": ["test"]}
    assert page.problems(told, tests) == ["other: who/else#2 is told already"]


def test_page_shows_lessons_by_kind() -> None:
    """With links to the reports, and each test once by its bare name, or the reason."""
    told = {
        "it-broke": LESSON,
        "not-ours": replace(LESSON, kind="primitive", sources=("a/b#3",), cannot_occur="No b."),
    }
    text = page.render(told, {"it-broke": ["a/test_x.py::test_b", "a/test_x.py::T::test_a"]})
    assert text.endswith("""
## First use

### Not ours

**Elsewhere:** It broke. ([a/b#3](https://github.com/a/b/issues/3))

**Here:** It holds.

**Cannot occur here:** No b.

## Reset and close

### It broke

**Elsewhere:** It broke. ([who/what#1](https://github.com/who/what/issues/1), \
[who/else#2](https://github.com/who/else/issues/2))

**Here:** It holds.

**Shown by:** `test_a`, `test_b`
""")
