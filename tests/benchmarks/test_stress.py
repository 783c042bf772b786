"""What a stress run must show."""

import pytest

from tests.benchmarks.stress import OURS, THEIRS, problems


@pytest.mark.parametrize(
    ("ours", "theirs", "free_threaded", "wrong"),
    [
        (0, 3, True, []),
        (0, 0, False, []),  # with the interpreter lock, luck decides
        (0, 0, True, ["proves nothing"]),
        (1, 3, False, ["torn 1 times"]),
        (1, 0, True, ["torn 1 times", "proves nothing"]),
    ],
)
def test_run_is_judged(ours: int, theirs: int, *, free_threaded: bool, wrong: list[str]) -> None:
    """A torn read of ours is a fault; a control that never fails is one where nothing hides it."""
    found = problems({OURS: ours, THEIRS: theirs}, free_threaded=free_threaded)
    assert len(found) == len(wrong)
    for text, part in zip(found, wrong, strict=True):
        assert part in text
