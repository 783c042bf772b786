"""The schedules in the guide are those that the explorer finds."""

import sys

import pytest

from tests.interleaving.schedules import FOLDER, SCHEDULES, VERSION, Schedule


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda schedule: schedule.snippet)
def test_the_guide_shows_what_is_found(schedule: Schedule) -> None:
    """A snippet goes wrong on every version; the listing that is shown is that of one."""
    found = schedule.find()
    shown = schedule.path.read_text(encoding="utf-8")
    assert found.splitlines()[-1] == shown.splitlines()[-1]
    if sys.version_info[:2] == VERSION:
        assert found == shown, "run `make schedules`"


def test_no_listing_is_left_over() -> None:
    """Each file belongs to a snippet."""
    assert {path.stem for path in FOLDER.iterdir()} == {entry.snippet for entry in SCHEDULES}
