"""A failed build caches nothing: its caller gets the error, and the next call tries again."""

from __future__ import annotations

from typing import ClassVar

from plugin_utils import lazy_singleton


class Client:
    """Stands for an SDK client whose server is down when it is made first."""

    tries: ClassVar[list[Client]] = []

    def __init__(self) -> None:
        self.tries.append(self)
        if len(self.tries) == 1:
            msg = "the server is restarting"
            raise ConnectionError(msg)


@lazy_singleton
def get_client() -> Client:
    """Return the client, built on the first call that succeeds."""
    return Client()


if __name__ == "__main__":
    try:
        get_client()
    except ConnectionError as error:
        print(f"first call: {error}")
    assert get_client.peek() is None  # nothing is cached
    assert get_client() is get_client()
    print(f"built at try {len(Client.tries)}")
