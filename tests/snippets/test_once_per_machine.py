"""Models that are on the machine already."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from types import ModuleType

import pytest
from filelock import FileLock, Timeout

from snippets.fixed import once_per_machine as fixed
from snippets.racy import once_per_machine as racy
from tests.support import child


@pytest.mark.learned("lock-file-by-another-name")
@pytest.mark.parametrize("module", [fixed, racy])
def test_a_model_that_is_there_is_used(
    module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is downloaded for the second process, if the first one is done."""
    monkeypatch.chdir(tmp_path)
    module.MODEL.write_bytes(b"found")
    module.get_model.reset()
    assert module.get_model() == b"found"
    assert not module.DOWNLOADS.exists()
    module.get_model.reset()


@pytest.mark.learned("done-while-it-waited")
def test_whoever_waits_for_the_lock_looks_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that came while a process waited for the lock is not downloaded once more."""
    about_to_wait = Event()

    def announce(path: str, *, timeout: float) -> FileLock:
        about_to_wait.set()
        return FileLock(path, timeout=timeout)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(fixed, "FileLock", announce)
    fixed.get_model.reset()
    with ThreadPoolExecutor(1) as other:
        with FileLock("model.lock"):
            model = other.submit(fixed.get_model)
            assert about_to_wait.wait(timeout=10)
            fixed.MODEL.write_bytes(b"found")
        assert model.result(timeout=10) == b"found"
    assert not fixed.DOWNLOADS.exists()
    fixed.get_model.reset()


@pytest.mark.learned("lock-file-by-another-name")
def test_a_link_to_the_folder_leads_to_the_same_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is one file by every path, and stays the same when the model is removed."""

    def without_patience(path: str, *, timeout: float) -> FileLock:
        assert timeout > 0
        return FileLock(link / path, timeout=0)

    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    monkeypatch.chdir(link)
    monkeypatch.setattr(fixed, "FileLock", without_patience)
    fixed.get_model.reset()
    with FileLock(real / "model.lock"), pytest.raises(Timeout):
        fixed.get_model()
    assert fixed.get_model() == b"the model"
    lock = (real / "model.lock").stat()
    fixed.get_model.reset()
    fixed.MODEL.unlink()
    assert fixed.get_model() == b"the model"
    assert (real / "model.lock").stat().st_ino == lock.st_ino
    fixed.get_model.reset()


def _fork_while_the_lock_is_held(folder: str) -> None:
    import os

    from filelock import FileLock

    os.chdir(folder)
    end, keep = os.pipe()
    held = FileLock("model.lock")
    held.acquire()
    if not os.fork():
        os.close(keep)
        os.read(end, 1)  # lives until its parent's parent lets it go
        os._exit(0)
    if not os.fork():
        os._exit(0)
    held.release()
    with FileLock("model.lock", timeout=0):
        print("free")
    os.close(keep)
    os.wait()
    os.wait()


@pytest.mark.learned("lock-file-by-another-name")
def test_a_forked_child_does_not_keep_the_lock(tmp_path: Path) -> None:
    """It lives on after its parent has released the lock, and the next one gets it."""
    assert child.run(_fork_while_the_lock_is_held, str(tmp_path)).output == "free\n"
