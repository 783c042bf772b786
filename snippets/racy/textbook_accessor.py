"""The accessor from the textbook: it tests, builds and stores, and takes no lock."""


class Client:
    """Stands for an SDK client; counts how many there are."""

    built = 0

    def __init__(self) -> None:
        Client.built += 1


_client: Client | None = None


def get_client() -> Client:
    """Return the client, built on the first call."""
    global _client
    if _client is None:
        _client = Client()
    return _client
