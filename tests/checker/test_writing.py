"""Replacing what a file holds: all of it or nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

import pytest

from plugin_utils.checker.writing import replace_content


def test_the_content_is_replaced_and_the_mode_is_kept(tmp_path: Path) -> None:
    """Nothing else is left in the folder."""
    file = tmp_path / "a.py"
    file.write_bytes(b"old")
    file.chmod(0o750)
    replace_content(str(file), b"new")
    assert file.read_bytes() == b"new"
    assert file.stat().st_mode & 0o777 == 0o750
    assert list(tmp_path.iterdir()) == [file]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """What it leads to is replaced."""
    (tmp_path / "a.py").write_bytes(b"old")
    link = tmp_path / "link.py"
    link.symlink_to("a.py")
    replace_content(str(link), b"new")
    assert link.is_symlink()
    assert (tmp_path / "a.py").read_bytes() == b"new"


@pytest.mark.parametrize("step", ["chmod", "replace"])
def test_a_write_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Whichever step fails, and nothing is left beside it."""
    file = tmp_path / "a.py"
    file.write_bytes(b"old")

    def fail(*_arguments: object) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, step, fail)
    with pytest.raises(OSError, match="No space left"):
        replace_content(str(file), b"new")
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_may_not_be_written_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its folder may allow it; whoever made it read-only meant the file."""
    file = tmp_path / "a.py"
    file.write_bytes(b"old")

    def refuse(path: Path, mode: str) -> NoReturn:
        raise PermissionError(13, f"Permission denied for {mode}", str(path))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(PermissionError, match=r"for r\+b"):
        replace_content(str(file), b"new")
    assert os.listdir(tmp_path) == ["a.py"]  # noqa: PTH208 - pathlib is patched


@pytest.mark.parametrize("is_refused", [True, False])
def test_the_owner_is_kept_where_the_system_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_refused: bool
) -> None:
    """Only root may give a file away; for the others that is no reason to fail."""
    given: list[tuple[int, int]] = []

    def chown(_path: object, owner: int, group: int) -> None:
        given.append((owner, group))
        if is_refused:
            raise PermissionError

    monkeypatch.setattr(os, "chown", chown, raising=False)
    file = tmp_path / "a.py"
    file.write_bytes(b"old")
    found = file.stat()
    replace_content(str(file), b"new")
    assert given == [(found.st_uid, found.st_gid)]
    assert file.read_bytes() == b"new"


def test_a_system_without_owners_needs_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Windows."""
    monkeypatch.delattr(os, "chown", raising=False)
    (tmp_path / "a.py").write_bytes(b"old")
    replace_content(str(tmp_path / "a.py"), b"new")
    assert (tmp_path / "a.py").read_bytes() == b"new"
