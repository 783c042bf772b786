"""Models that are on the machine already."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from types import ModuleType

import pytest
from filelock import FileLock

from snippets.fixed import once_per_machine as fixed
from snippets.racy import once_per_machine as racy


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
