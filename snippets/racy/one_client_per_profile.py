"""A dict of clients: two threads of one profile both find its key missing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import ClassVar


class Client:
    """Stands for an SDK client that is bound to one profile."""

    built: ClassVar[list[str]] = []
    connecting: ClassVar[Barrier] = Barrier(2)

    def __init__(self, profile: str) -> None:
        self.profile = profile
        self.connecting.wait(timeout=10)  # as slow as a network: until both threads are here
        self.built.append(profile)


_clients: dict[str, Client] = {}


def get_client(profile: str = "default") -> Client:
    """Return the profile's client, built on its first call."""
    if profile not in _clients:
        _clients[profile] = Client(profile)
    return _clients[profile]


if __name__ == "__main__":
    with ThreadPoolExecutor(2) as threads:
        calls = [threads.submit(get_client, "work") for _ in range(2)]
    assert {call.result().profile for call in calls} == {"work"}
    assert Client.built == ["work"], f"built for: {', '.join(Client.built)}"
