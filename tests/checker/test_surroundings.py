"""What the module and its packages are called tells how many threads come there."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from plugin_utils.checker import Level, check_source
from plugin_utils.checker.module import Module
from plugin_utils.checker.package import packages_of
from plugin_utils.checker.run import check_file

ACCESSOR = """_client = None


def client():
    global _client
    if _client is None:
        _client = Client()
    return _client
"""
NAMES = [
    *("__main__", "cli", "commands", "conftest", "test", "testbase", "testing", "tests"),
    *("_cli", "_testbase", "__tests__"),
]


def level_at(path: Path) -> Level:
    """Return the level of the accessor in a module at `path`."""
    path.write_text(ACCESSOR, encoding="utf-8")
    found = check_file(str(path))
    assert isinstance(found, list)
    return found[0].level


@pytest.mark.parametrize("name", NAMES)
def test_a_module_that_is_called_like_a_program_has_one_thread(name: str, tmp_path: Path) -> None:
    """With or without underscores."""
    assert level_at(tmp_path / f"{name}.py") is Level.MEDIUM


@pytest.mark.parametrize("name", NAMES)
def test_so_has_each_module_of_such_a_package(name: str, tmp_path: Path) -> None:
    """Also of one inside it, but not of a mere folder by that name."""
    folder = tmp_path / name / "inner"
    folder.mkdir(parents=True)
    assert level_at(folder / "slot.py") is Level.HIGH
    (folder / "__init__.py").touch()
    assert level_at(folder / "slot.py") is Level.HIGH
    (tmp_path / name / "__init__.py").touch()
    assert level_at(folder / "slot.py") is Level.MEDIUM


@pytest.mark.parametrize("name", ["contest", "test_client", "climate", "_testbase_client"])
def test_a_name_that_only_contains_such_a_word_is_another(name: str, tmp_path: Path) -> None:
    """The whole name counts."""
    assert level_at(tmp_path / f"{name}.py") is Level.HIGH


def test_a_text_without_a_place_is_in_no_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the checker runs."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "__init__.py").touch()
    monkeypatch.chdir(tmp_path / "inner")
    assert packages_of(Module(ast.parse(""), "")) == []


def test_a_text_without_a_file_is_in_no_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder that the checker runs in says nothing about it."""
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.chdir(folder)
    assert check_source(ACCESSOR)[0].level is Level.HIGH
