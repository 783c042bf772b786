"""The accessor whose first config wins."""

from collections.abc import Iterator

import pytest

from snippets.fixed import client_with_config as snippet


@pytest.fixture(autouse=True)
def _no_client() -> Iterator[None]:
    snippet._client_slot.reset()
    yield
    snippet._client_slot.reset()


def test_another_config_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    """A caller whose workspace is ignored is told so."""
    client = snippet.get_client("home")
    assert snippet.get_client("work") is client
    assert caplog.messages == ["the client is bound to 'home' already: 'work' ignored"]


@pytest.mark.parametrize("workspace", [None, "home"])
def test_no_difference_is_no_report(
    workspace: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    """A caller who wants what there is, or anything, is told nothing."""
    client = snippet.get_client("home")
    assert snippet.get_client(workspace) is client
    assert caplog.messages == []


def test_the_default_workspace() -> None:
    """Without a config the first call uses the default."""
    assert snippet.get_client().workspace == "hermes"
