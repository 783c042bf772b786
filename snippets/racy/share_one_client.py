"""Two threads call first, and both build a client."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import ClassVar


class Client:
    """Stands for an SDK client, which opens a connection when it is made."""

    built: ClassVar[list[Client]] = []
    connecting: ClassVar[Barrier] = Barrier(2)

    def __init__(self) -> None:
        self.connecting.wait(timeout=10)  # as slow as a network: until both threads are here
        self.built.append(self)


_client: Client | None = None


def get_client() -> Client:
    """Return the client, built on the first call."""
    global _client
    if _client is None:
        _client = Client()
    return _client


if __name__ == "__main__":
    with ThreadPoolExecutor(2) as threads:
        calls = [threads.submit(get_client) for _ in range(2)]
    assert all(call.result() for call in calls)
    assert len(Client.built) == 1, f"{len(Client.built)} clients were built"
