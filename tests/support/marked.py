"""Which tests carry a marker: `collect` asks pytest, which has this module as its plugin then."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.interpreters import ROOT

__all__ = ("collect", "pytest_addoption", "pytest_collection_finish")


def collect(marker: str, folders: Sequence[str]) -> dict[str, list[str]]:
    """Return the tests of each argument of a marker, as pytest finds them.

    Args:
        marker: Its name. Each of its arguments says one thing that the test proves.
        folders: Where to look; one that is not there is left out.
    """
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary, "tests.json")
        options = [f"-p{__name__}", f"--marked-by={marker}", f"--tests-to={path}"]
        found = [folder for folder in folders if (ROOT / folder).is_dir()]
        command = [sys.executable, "-m", "pytest", "-q", "--collect-only", *options, *found]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        tests: dict[str, list[str]] = json.loads(path.read_text("utf-8"))
    return tests


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that name the marker, and the file to write."""
    parser.addoption("--marked-by", required=True)
    parser.addoption("--tests-to", type=Path, required=True)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Write `{argument: [test, ...]}`, each test once, however often it is parametrized."""
    tests: dict[str, dict[str, None]] = {}
    marker: object = session.config.getoption("--marked-by")
    path: object = session.config.getoption("--tests-to")
    assert isinstance(marker, str)
    assert isinstance(path, Path)
    for item in session.items:
        name, _, _ = item.nodeid.partition("[")
        for mark in item.iter_markers(marker):
            for argument in mark.args:
                tests.setdefault(str(argument), {})[name] = None
    path.write_text(json.dumps({argument: [*names] for argument, names in tests.items()}), "utf-8")
