"""The first test's client is still there in the second test."""

from __future__ import annotations

import os

import pytest

from plugin_utils import lazy_singleton


class Client:
    """Stands for an SDK client that reads its workspace from the environment."""

    def __init__(self) -> None:
        self.workspace = os.environ["WORKSPACE"]


@lazy_singleton
def get_client() -> Client:
    """Return the client, built on the first call."""
    return Client()


@pytest.mark.parametrize("workspace", ["home", "work"])
def test_the_client_uses_the_workspace(workspace: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client takes the workspace that is set when it is built."""
    monkeypatch.setenv("WORKSPACE", workspace)
    assert get_client().workspace == workspace


if __name__ == "__main__":
    assert pytest.main(["-q", "-p", "no:cacheprovider", __file__]) == pytest.ExitCode.OK
