"""The warm-up thread and the first request both build."""

from __future__ import annotations

from threading import Barrier, Thread
from typing import ClassVar


class Client:
    """Stands for an SDK client that takes long to connect."""

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


def warm_up() -> Thread:
    """Start to connect, so that the first request need not."""
    thread = Thread(target=get_client, name="warm-up")
    thread.start()
    return thread


if __name__ == "__main__":
    thread = warm_up()
    get_client()  # the first request comes while the warm-up connects
    thread.join(timeout=10)
    assert len(Client.built) == 1, f"{len(Client.built)} clients were built"
