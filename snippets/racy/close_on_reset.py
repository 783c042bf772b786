"""Closing first and forgetting second: in between, readers get a closed client."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import ClassVar


class Client:
    """Stands for an SDK client with a connection to close."""

    closing: ClassVar[Event] = Event()
    served: ClassVar[Event] = Event()

    def __init__(self) -> None:
        self.is_open = True

    def close(self) -> None:
        """Close the connection; take until another thread has been served meanwhile."""
        self.is_open = False
        self.closing.set()
        self.served.wait(timeout=10)


_client: Client | None = None


def get_client() -> Client:
    """Return the client, built on the first call."""
    global _client
    if _client is None:
        _client = Client()
    return _client


def reset_client() -> None:
    """Close the client, so that the next call builds another one."""
    global _client
    if _client is not None:
        _client.close()
        _client = None


if __name__ == "__main__":
    get_client()
    with ThreadPoolExecutor(1) as other:
        resetting = other.submit(reset_client)
        assert Client.closing.wait(timeout=10)
        client = get_client()
        Client.served.set()
    resetting.result()
    assert client.is_open, "get_client() returned a closed client"
