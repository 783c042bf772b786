"""The fixture that serves a fake."""

import pytest

from snippets.fixed import fake_in_a_slot as snippet


def test_without_the_fixture_the_client_is_real() -> None:
    """The real client asks the real server, and closing it closes a real connection."""
    client = snippet.get_client()
    with pytest.raises(ConnectionError, match="who"):
        client.ask("who?")
    with pytest.raises(ConnectionError):
        snippet._client_slot.reset()
    assert snippet._client_slot.peek() is None
