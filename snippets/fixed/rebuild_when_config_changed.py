"""Two threads find the client stale, and drop that one only."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event, current_thread, main_thread
from typing import ClassVar

from plugin_utils import SingletonSlot

settings = {"timeout": "30"}


class Client:
    """Stands for an SDK client that is built from the settings."""

    built: ClassVar[list[Client]] = []
    found_stale: ClassVar[Event] = Event()
    replaced: ClassVar[Event] = Event()

    def __init__(self) -> None:
        self.timeout = settings["timeout"]
        self.built.append(self)

    def is_stale(self) -> bool:
        """Return whether the settings have changed. The other thread is slow to go on."""
        stale = self.timeout != settings["timeout"]
        if stale and current_thread() is not main_thread():
            self.found_stale.set()
            self.replaced.wait(timeout=10)
        return stale


_client_slot: SingletonSlot[Client] = SingletonSlot(name="client")


def get_client() -> Client:
    """Return a client that was built from the settings as they are."""
    client = _client_slot.get(Client)
    if client.is_stale():
        _client_slot.reset(expected=client)
        client = _client_slot.get(Client)
    return client


if __name__ == "__main__":
    get_client()
    settings["timeout"] = "300"
    with ThreadPoolExecutor(1) as other:
        slower = other.submit(get_client)
        assert Client.found_stale.wait(timeout=10)
        client = get_client()  # this thread is faster: it replaces the client
        Client.replaced.set()
    assert slower.result() is client
    assert len(Client.built) == 2
