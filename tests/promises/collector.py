"""A pytest plugin that writes down which tests prove which promise."""

import json
from pathlib import Path

import pytest

__all__ = ("pytest_addoption", "pytest_collection_finish")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names the file to write."""
    parser.addoption("--promises-to", type=Path, required=True)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Write `{number: [test, ...]}`, each test once, however often it is parametrized."""
    tests: dict[int, dict[str, None]] = {}
    for item in session.items:
        name, _, _ = item.nodeid.partition("[")
        for marker in item.iter_markers("promise"):
            for number in marker.args:
                tests.setdefault(number, {})[name] = None
    path: object = session.config.getoption("--promises-to")
    assert isinstance(path, Path)
    path.write_text(json.dumps({number: [*names] for number, names in tests.items()}), "utf-8")
