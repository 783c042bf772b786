"""The warm-up thread."""

import pytest

from snippets.fixed import warm_up as snippet


def test_a_failed_warm_up_is_logged_and_tried_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody waits for the thread, so its error goes to the log and the next call builds."""

    def refuse(_client: object) -> None:
        raise ConnectionError

    snippet.get_client.reset()
    with monkeypatch.context() as broken:
        broken.setattr(snippet.Client, "__init__", refuse)
        snippet.warm_up().join(timeout=10)
    assert caplog.messages == ["could not connect ahead of time"]
    snippet.Client.connected.set()
    assert snippet.get_client() is snippet.get_client.peek()
    snippet.get_client.reset()
