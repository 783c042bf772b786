"""One client for each profile; different profiles connect at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import ClassVar

from plugin_utils import KeyedSlots


class Client:
    """Stands for an SDK client that is bound to one profile."""

    built: ClassVar[list[str]] = []
    connecting: ClassVar[Barrier] = Barrier(2)

    def __init__(self, profile: str) -> None:
        self.profile = profile
        self.connecting.wait(timeout=10)  # two profiles meet here: neither waits for the other
        self.built.append(profile)


_clients: KeyedSlots[str, Client] = KeyedSlots(name="clients")


def get_client(profile: str = "default") -> Client:
    """Return the profile's client, built on its first call."""
    return _clients.get(profile, Client, profile)


if __name__ == "__main__":
    with ThreadPoolExecutor(8) as threads:
        clients = list(threads.map(get_client, ["home", "work"] * 4))
    assert len(set(clients)) == 2
    assert sorted(Client.built) == ["home", "work"]
    assert sorted(_clients) == ["home", "work"]
