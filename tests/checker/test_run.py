"""Finding files, and spreading them over processes."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

from plugin_utils.checker import run
from plugin_utils.checker.run import Report, check_file, check_files, python_files
from plugin_utils.checker.settings import Settings

RACY = "_x = {}\ndef f(k):\n    if k not in _x:\n        _x[k] = Client(k)\n    return _x[k]\n"


def test_a_folder_stands_for_its_python_files(tmp_path: Path) -> None:
    """In order, without what is not the project's own, and each once."""
    for name in ("b.py", "a.py", "c.txt", ".venv/x.py", "sub/node_modules/x.py", "sub/d.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = python_files([str(tmp_path), str(tmp_path / "a.py")], Settings(isolated=True), Report())
    assert [Path(path).name for path in found] == ["a.py", "b.py", "d.py"]


def test_a_file_with_many_names_is_checked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the first of them: a second one would report what the fix by the first has mended."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").touch()
    (tmp_path / "sub").mkdir()
    (tmp_path / "link.py").symlink_to("a.py")
    names = ["a.py", "./a.py", str(tmp_path / "a.py"), "sub/../a.py", "link.py", "."]
    assert python_files(names, Settings(isolated=True), Report()) == ["a.py"]
    assert python_files(names[::-1], Settings(isolated=True), Report()) == ["a.py"]


def test_a_named_file_is_checked_whatever_its_name(tmp_path: Path) -> None:
    """A script often has no suffix."""
    assert python_files([str(tmp_path / "script")], Settings(isolated=True), Report()) == [
        str(tmp_path / "script")
    ]


def test_a_pipe_is_checked_only_if_it_is_named(tmp_path: Path) -> None:
    """In a folder it would keep the checker waiting for somebody to write."""
    pipe = str(tmp_path / "pipe.py")
    os.mkfifo(pipe)
    assert python_files([str(tmp_path)], Settings(isolated=True), Report()) == []
    assert python_files([pipe], Settings(isolated=True), Report()) == [pipe]


def test_a_folder_that_cannot_be_read_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may hold files that are not clean."""

    def refuse(path: str) -> object:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refuse)
    report = Report()
    assert python_files([str(tmp_path)], Settings(isolated=True), report) == []
    assert report.unreadable == [f"{tmp_path}: Permission denied"]


@pytest.mark.parametrize("cpus", [1, 2])
def test_many_files_give_the_same_in_one_process_and_in_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cpus: int
) -> None:
    """In the order of the files, with each one counted."""
    paths = [str(tmp_path / f"m{number:02}.py") for number in range(20)]
    for path in paths[:-1]:
        Path(path).write_text(RACY, encoding="utf-8")
    monkeypatch.setattr(run, "MANY", 10)

    def affinity(_pid: int) -> set[int]:
        return set(range(cpus))

    monkeypatch.setattr(os, "sched_getaffinity", affinity, raising=False)
    report, seen = Report(), list[int]()
    check_files(paths, Settings(isolated=True), report, seen.append)
    assert [finding.path for finding in report.findings] == paths[:-1]
    assert report.files == 19
    assert report.unreadable == [f"{paths[-1]}: No such file or directory"]
    assert seen == list(range(1, 21))


def test_where_there_is_no_affinity_the_processors_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS and Windows."""
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert run._cpus() == 3


def test_the_garbage_collector_is_left_as_it_was(tmp_path: Path) -> None:
    """Also when it was off before."""
    path = tmp_path / "a.py"
    path.write_text("x = (", encoding="utf-8")
    assert gc.isenabled()
    check_file(str(path))
    assert gc.isenabled()
    gc.disable()
    try:
        check_file(str(path))
        assert not gc.isenabled()
    finally:
        gc.enable()
