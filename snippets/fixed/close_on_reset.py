"""Forgetting first and closing second: a reader gets the next client, never a closed one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import ClassVar

from plugin_utils import lazy_singleton


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


@lazy_singleton(close=Client.close)
def get_client() -> Client:
    """Return the client, built on the first call."""
    return Client()


if __name__ == "__main__":
    first = get_client()
    with ThreadPoolExecutor(1) as other:
        resetting = other.submit(get_client.reset)
        assert Client.closing.wait(timeout=10)
        client = get_client()
        Client.served.set()
    assert resetting.result()
    assert client.is_open
    assert not first.is_open
