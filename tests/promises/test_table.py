"""The page of promises says what the tests say."""

import pytest

from tests.promises import table


@pytest.fixture(scope="module")
def tests() -> dict[int, list[str]]:
    """Return the tests of each promise."""
    return table.collect()


def test_every_promise_has_a_text_and_a_test(tests: dict[int, list[str]]) -> None:
    """A promise without a test is an error; so is one about threads without a proof beside it."""
    texts = table.promises()
    assert list(texts) == list(range(1, 32))
    assert table.problems(texts, tests, table.threads()) == []


def test_page_is_current(tests: dict[int, list[str]]) -> None:
    """The page is what the texts and the tests make of it."""
    page = table.PAGE.read_text("utf-8")
    assert page == table.render(table.promises(), tests, table.schedules()), "run: make promises"


def test_missing_test_and_missing_text_are_told() -> None:
    """Both directions are looked at."""
    nobody = table.Threads(frozenset(), {})
    assert table.problems({1: "text", 2: "text"}, {2: ["test"], 3: ["test"]}, nobody) == [
        "promise 1 has no test",
        "promise 3 has no text",
    ]


def test_missing_proof_is_told() -> None:
    """Tests and proofs do not stand in for each other, and no list is taken at its word."""
    test, proof = "tests/primitives/test_x.py::test_a", "tests/interleaving/test_y.py::test_b"
    texts = dict.fromkeys(range(1, 6), "text") | {6: "Threads that wait"}
    tests = {1: [test], 2: [test], 3: [test, proof], 4: [proof], 5: [test, proof], 6: [test]}
    about = table.Threads(frozenset({1, 2, 3, 4}), {2: "reason"})
    assert table.problems(texts, tests, about) == [
        "promise 4 has no test",
        "promise 1 has no proof over schedules",
        "promise 5 is proved, but not listed",
        "promise 6 speaks of threads, but is not listed",
    ]


def test_page_shows_each_test_once() -> None:
    """A row has the number, the promise, the bare names of its tests, and the schedules."""
    names = ["a/test_x.py::test_b", "a/test_x.py::T::test_a"]
    page = table.render({7: "Never twice."}, {7: names}, {7: "all"})
    assert page.endswith("|\n| 7 | Never twice. | `test_a`<br>`test_b` | all |\n")


def test_weakest_proof_counts() -> None:
    """A promise is said to be proved only as far as each of its proofs goes."""
    said = table.schedules()
    assert said.keys() == table.threads().about
    assert said[1] == "all"
    assert said[21].startswith("all with at most ")
    assert said[12].startswith("not: ")
