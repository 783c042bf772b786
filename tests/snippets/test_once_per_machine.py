"""Models that are on the machine already."""

from pathlib import Path
from types import ModuleType

import pytest

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
