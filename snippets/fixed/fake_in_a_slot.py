"""A fixture puts a fake into the slot, and takes it out again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from plugin_utils import SingletonSlot


class Client:
    """Stands for an SDK client, which opens a connection when it is made."""

    def ask(self, question: str) -> str:
        """Ask the real server."""
        raise ConnectionError(question)

    def close(self) -> None:
        """Close the real connection."""
        raise ConnectionError


class FakeClient(Client):
    """Answers by itself, and has nothing to close."""

    def ask(self, question: str) -> str:
        """Answer at once."""
        return f"a fake answer to {question!r}"


_client_slot: SingletonSlot[Client] = SingletonSlot(close=Client.close, name="client")


def get_client() -> Client:
    """Return the client, built on the first call."""
    return _client_slot.get(Client)


@pytest.fixture
def fake_client() -> Iterator[FakeClient]:
    """Serve a fake for the length of one test."""
    _client_slot.reset()  # waits for a build that is running, and closes the real client
    fake = FakeClient()
    assert _client_slot.get(lambda: fake) is fake
    yield fake
    _client_slot.reset(expected=fake, close=False)


def test_an_answer_comes_from_the_fake(fake_client: FakeClient) -> None:
    """Code that calls the accessor gets the fake."""
    assert get_client() is fake_client
    assert get_client().ask("who?") == "a fake answer to 'who?'"


def test_the_fake_is_gone() -> None:
    """A test that does not ask for the fake gets none."""
    assert _client_slot.peek() is None


if __name__ == "__main__":
    assert pytest.main(["-q", "-p", "no:cacheprovider", __file__]) == pytest.ExitCode.OK
