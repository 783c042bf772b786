"""One client, whoever calls first."""

from __future__ import annotations

from typing import ClassVar

from plugin_utils import lazy_singleton
from plugin_utils.testing import run_together


class Client:
    """Stands for an SDK client, which opens a connection when it is made."""

    built: ClassVar[list[Client]] = []

    def __init__(self) -> None:
        self.built.append(self)


@lazy_singleton
def get_client() -> Client:
    """Return the client, built on the first call."""
    return Client()


if __name__ == "__main__":
    clients = run_together(20, get_client)  # twenty threads that start at the same moment
    assert set(clients) == {get_client()}
    assert len(Client.built) == 1
