"""Two threads bring a config each, and each keeps a client of its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import ClassVar


class Client:
    """Stands for an SDK client that is bound to one workspace."""

    built: ClassVar[list[Client]] = []
    connecting: ClassVar[Barrier] = Barrier(2)

    def __init__(self, workspace: str) -> None:
        self.workspace = workspace
        self.connecting.wait(timeout=10)  # as slow as a network: until both threads are here
        self.built.append(self)


_client: Client | None = None


def get_client(workspace: str = "hermes") -> Client:
    """Return the client; only the first call's workspace counts."""
    global _client
    if _client is None:
        _client = Client(workspace)
    return _client


if __name__ == "__main__":
    with ThreadPoolExecutor(2) as threads:
        clients = list(threads.map(get_client, ["home", "work"]))
    used = {client.workspace for client in clients} | {get_client().workspace}
    assert len(used) == 1, f"one process writes to {sorted(used)}"
