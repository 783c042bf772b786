"""A reset retires the client; it is closed when its last user is done."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import ClassVar

from plugin_utils import SingletonSlot


class Client:
    """Stands for an SDK client with a connection to close."""

    asked: ClassVar[Event] = Event()
    answered: ClassVar[Event] = Event()

    def __init__(self) -> None:
        self.is_open = True

    def ask(self) -> str:
        """Send a question, and wait for the answer."""
        self.asked.set()
        self.answered.wait(timeout=10)
        return "the answer" if self.is_open else "the connection was closed"

    def close(self) -> None:
        """Close the connection."""
        self.is_open = False


_client_slot: SingletonSlot[Client] = SingletonSlot(close=Client.close, name="client")


def ask() -> str:
    """Ask with whatever client there is, and keep it open until it has answered."""
    with _client_slot.lease(Client) as client:
        return client.ask()


if __name__ == "__main__":
    old = _client_slot.get(Client)
    with ThreadPoolExecutor(1) as other:
        answer = other.submit(ask)
        assert Client.asked.wait(timeout=10)
        _client_slot.reset()  # the settings changed: replace the client
        assert _client_slot.get(Client) is not old  # new callers get a new client at once
        assert old.is_open
        Client.answered.set()
    assert answer.result() == "the answer"
    assert not old.is_open
