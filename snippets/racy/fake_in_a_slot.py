"""A test patches the global while a background thread is building: the real client wins."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import ClassVar


class Client:
    """Stands for an SDK client, which opens a connection when it is made."""

    connecting: ClassVar[Event] = Event()
    connected: ClassVar[Event] = Event()

    def __init__(self) -> None:
        self.connecting.set()
        self.connected.wait(timeout=10)


class FakeClient(Client):
    """Connects to nothing."""

    def __init__(self) -> None:
        """Do not connect."""


_client: Client | None = None


def get_client() -> Client:
    """Return the client, built on the first call."""
    global _client
    if _client is None:
        _client = Client()
    return _client


if __name__ == "__main__":
    with ThreadPoolExecutor(1) as background:
        background.submit(get_client)
        assert Client.connecting.wait(timeout=10)
        _client = fake = FakeClient()  # what monkeypatch.setattr(module, "_client", fake) does
        Client.connected.set()
    assert get_client() is fake, "the test talks to the real server"
