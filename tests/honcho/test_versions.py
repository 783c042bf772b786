"""The tests run on the release that they are meant to run on."""

import os
import re
from importlib.metadata import version
from pathlib import Path


def test_the_sdk_is_the_release_under_test() -> None:
    """The one named by SDK_UNDER_TEST, or else the pinned one: a run on another proves nothing."""
    pins = (Path(__file__).parents[2] / "constraints.txt").read_text()
    wanted = os.environ.get("SDK_UNDER_TEST") or pins
    found = re.search(r"honcho-ai==(\S+)", wanted)
    assert found is not None
    assert version("honcho-ai") == found[1]
