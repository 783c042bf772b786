"""Clients that send the rest when they are closed."""

from pathlib import Path
from types import ModuleType

import pytest

from snippets.fixed import close_at_exit as fixed
from snippets.racy import close_at_exit as racy


@pytest.mark.parametrize("module", [fixed, racy])
def test_closing_sends_the_batch(
    module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reset would send what is left, also where nothing calls it at exit."""
    monkeypatch.chdir(tmp_path)
    module.get_client().send("hello")
    assert not Path("server.log").exists()
    module.get_client.reset()
    assert Path("server.log").read_text(encoding="utf-8") == "hello"
