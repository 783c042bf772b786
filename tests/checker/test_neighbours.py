"""The class of a finding is looked up beside its module: in the same way, whoever asks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from plugin_utils.checker import Finding, Level, check_source
from plugin_utils.checker.run import Report, check_file, check_files, python_files
from plugin_utils.checker.settings import Settings

ACCESSOR = """from .parts import Rules2

_slot = None


def slot():
    global _slot
    if _slot is None:
        _slot = Rules2()
    return _slot
"""
STATELESS = "class Rules2:\n    pass\n"
STATEFUL = "class Rules2:\n    def add(self, name):\n        self.name = name\n"


def level_beside(parts: bytes | None, folder: Path) -> Level:
    """Return the level of the accessor beside a module of these bytes."""
    if parts is not None:
        (folder / "parts.py").write_bytes(parts)
    (folder / "slot.py").write_text(ACCESSOR, encoding="utf-8")
    found = check_file(str(folder / "slot.py"))
    assert isinstance(found, list)
    return found[0].level


@pytest.mark.parametrize(
    ("parts", "level"),
    [
        (STATELESS.encode(), Level.INFO),
        (STATEFUL.encode(), Level.HIGH),
        (b"", Level.HIGH),
        (b"from .parts import Rules2\n", Level.HIGH),
        (b"class Rules2(:\n", Level.HIGH),
        (b"# coding: klingon\n", Level.HIGH),
        (b"\xff\xfe\x00", Level.HIGH),
        (None, Level.HIGH),
    ],
    ids=["stateless", "stateful", "empty", "circle", "broken", "coding", "bytes", "missing"],
)
def test_only_a_class_that_can_be_read_speaks_against_a_finding(
    parts: bytes | None, level: Level, tmp_path: Path
) -> None:
    """What is not there, or is no Python, leaves the finding as the name has it."""
    assert level_beside(parts, tmp_path) is level


def test_a_folder_by_the_name_of_a_module_is_no_module(tmp_path: Path) -> None:
    """Nor is it an error."""
    (tmp_path / "parts.py").mkdir()
    assert level_beside(None, tmp_path) is Level.HIGH


def test_a_text_without_a_place_has_no_neighbours() -> None:
    """As from standard input, or out of a page."""
    (found,) = check_source(ACCESSOR)
    assert found.level is Level.HIGH


def test_a_single_file_and_its_folder_give_the_same(tmp_path: Path) -> None:
    """In whichever order the files come."""
    level_beside(STATELESS.encode(), tmp_path)

    def found_in(*paths: str) -> list[Finding]:
        report = Report()
        settings = Settings(lambda config: replace(config, level=Level.INFO), isolated=True)
        files = python_files(paths, settings, report)
        check_files(files, settings, report, lambda _done: None)
        return report.findings

    slot, parts = str(tmp_path / "slot.py"), str(tmp_path / "parts.py")
    alone = found_in(slot)
    assert [one.level for one in alone] == [Level.INFO]
    assert found_in(parts, slot) == found_in(slot, parts) == found_in(str(tmp_path)) == alone
