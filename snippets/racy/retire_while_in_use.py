"""A reset closes the client in the middle of another thread's request."""

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
    """Ask with whatever client there is."""
    return _client_slot.get(Client).ask()


if __name__ == "__main__":
    with ThreadPoolExecutor(1) as other:
        answer = other.submit(ask)
        assert Client.asked.wait(timeout=10)
        _client_slot.reset()  # the settings changed: replace the client
        Client.answered.set()
    assert answer.result() == "the answer", answer.result()
