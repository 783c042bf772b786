"""A flag beside the value: reset changes both, and a reader can see one without the other."""

from threading import Lock


class Client:
    """Stands for an SDK client; counts how many there are."""

    built = 0

    def __init__(self) -> None:
        Client.built += 1


_lock = Lock()
_built = False
_client: Client | None = None


def get_client() -> Client | None:
    """Return the client, built on the first call."""
    global _client, _built
    if _built:
        return _client
    with _lock:
        if not _built:
            _client = Client()
            _built = True
        return _client


def reset_client() -> None:
    """Forget the client, so that the next call builds another one."""
    global _client, _built
    with _lock:
        _client = None
        _built = False
