"""The first config wins, and whoever brings another one is told so."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

from plugin_utils import SingletonSlot

logger = logging.getLogger(__name__)


class Client:
    """Stands for an SDK client that is bound to one workspace."""

    built: ClassVar[list[Client]] = []

    def __init__(self, workspace: str) -> None:
        self.workspace = workspace
        self.built.append(self)


_client_slot: SingletonSlot[Client] = SingletonSlot(name="client")


def get_client(workspace: str | None = None) -> Client:
    """Return the client; only the first call's workspace counts."""
    client = _client_slot.get(Client, workspace or "hermes")
    if workspace not in (None, client.workspace):
        logger.warning("the client is bound to %r already: %r ignored", client.workspace, workspace)
    return client


if __name__ == "__main__":
    with ThreadPoolExecutor(2) as threads:
        clients = set(threads.map(get_client, ["home", "work"]))
    assert clients == {get_client()}
    assert len(Client.built) == 1
