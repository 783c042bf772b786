"""A module with a racy accessor: its lock, flag and client are globals."""

from __future__ import annotations

from threading import Lock


class Client:
    """What the accessor builds."""

    built = 0

    def __init__(self) -> None:
        Client.built += 1


_lock = Lock()
_built = False
_client: Client | None = None


def get_client() -> Client | None:
    """Return the client, built on the first call; or None, after a reset at a bad moment."""
    global _client, _built
    if _built:
        return _client
    with _lock:
        if not _built:
            _client = Client()
            _built = True
        return _client


def reset_client() -> None:
    """Drop the client."""
    global _client, _built
    with _lock:
        _client = None
        _built = False
