"""The global stays where it is: read, test, and build under a lock, publish last."""

from __future__ import annotations

from threading import Lock
from typing import ClassVar

from plugin_utils.testing import run_together


class Client:
    """Stands for an SDK client, which opens a connection when it is made."""

    built: ClassVar[list[Client]] = []

    def __init__(self) -> None:
        self.built.append(self)


_client: Client | None = None
_client_lock = Lock()  # made at import: a lock made on first use would be raced for itself


def get_client() -> Client:
    """Return the client, built on the first call."""
    global _client
    client = _client  # read once: what is tested is what is returned
    if client is None:
        with _client_lock:
            client = _client  # somebody may have built it while this thread waited
            if client is None:
                client = Client()
                _client = client  # published last, whole
    return client


if __name__ == "__main__":
    clients = run_together(20, get_client)
    assert set(clients) == {get_client()}
    assert len(Client.built) == 1
    _client = fake = Client()  # a test that patches the global is still obeyed
    assert get_client() is fake
