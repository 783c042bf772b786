"""Accessors whose first build fails."""

import pytest

from snippets.fixed import recover_from_failed_build as fixed
from snippets.racy import recover_from_failed_build as racy


def test_the_flag_remembers_the_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """The racy accessor never tries again."""
    monkeypatch.setattr(racy, "_started", False)
    monkeypatch.setattr(racy.Client, "tries", [])
    racy.Client.refuse.set()
    with pytest.raises(ConnectionError):
        racy.get_client()
    assert [racy.get_client() for _ in range(3)] == [None, None, None]
    assert len(racy.Client.tries) == 1
    assert racy.Client() in racy.Client.tries  # the server would answer


@pytest.mark.learned("failure-taken-for-done")
def test_the_next_call_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fixed accessor gives its caller the error, and the next caller a client."""
    fixed.get_client.reset()
    monkeypatch.setattr(fixed.Client, "tries", [])
    with pytest.raises(ConnectionError, match="the server is restarting"):
        fixed.get_client()
    assert fixed.get_client() is fixed.get_client()
    assert len(fixed.Client.tries) == 2
    fixed.get_client.reset()
