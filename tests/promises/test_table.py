"""The page of promises says what the tests say."""

import pytest

from tests.promises import table


@pytest.fixture(scope="module")
def tests() -> dict[int, list[str]]:
    """Return the tests of each promise."""
    return table.collect()


def test_every_promise_has_a_text_and_a_test(tests: dict[int, list[str]]) -> None:
    """A promise without a test, or a test of a promise that is nowhere stated, is an error."""
    texts = table.promises()
    assert list(texts) == list(range(1, 32))
    assert table.problems(texts, tests) == []


def test_page_is_current(tests: dict[int, list[str]]) -> None:
    """The page is what the texts and the tests make of it."""
    page = table.PAGE.read_text("utf-8")
    assert page == table.render(table.promises(), tests), "run: make promises"


def test_missing_test_and_missing_text_are_told() -> None:
    """Both directions are looked at."""
    assert table.problems({1: "text", 2: "text"}, {2: ["test"], 3: ["test"]}) == [
        "promise 1 has no test",
        "promise 3 has no text",
    ]


def test_page_shows_each_test_once() -> None:
    """A row has the number, the promise, and the bare names of its tests."""
    page = table.render({7: "Never twice."}, {7: ["a/test_x.py::test_b", "a/test_x.py::T::test_a"]})
    assert page.endswith("|---|---|---|\n| 7 | Never twice. | `test_a`<br>`test_b` |\n")
