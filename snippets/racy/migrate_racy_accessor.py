"""An accessor as many plugins have it: built by whoever sees nothing, reset by assignment."""

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


_client: Client | None = None


def get_client() -> Client:
    """Return the client, built on the first call."""
    global _client
    if _client is None:
        _client = Client()
    return _client


def reset_client() -> None:
    """Forget the client, so that the next call builds another one."""
    global _client
    _client = None


if __name__ == "__main__":
    with ThreadPoolExecutor(1) as other:
        early = other.submit(get_client)
        assert Client.connecting.wait(timeout=10)
        reset_client()  # the settings changed: forget what was built with the old ones
        Client.connected.set()
    assert get_client() is not early.result(), "the reset was lost: the old client is back"
