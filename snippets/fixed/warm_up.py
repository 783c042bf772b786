"""The first request waits for the warm-up's build, and a failed warm-up is only a late start."""

from __future__ import annotations

import logging
from threading import Event, Thread
from typing import ClassVar

from plugin_utils import lazy_singleton

logger = logging.getLogger(__name__)


class Client:
    """Stands for an SDK client that takes long to connect."""

    built: ClassVar[list[Client]] = []
    connecting: ClassVar[Event] = Event()
    connected: ClassVar[Event] = Event()

    def __init__(self) -> None:
        self.connecting.set()
        self.connected.wait(timeout=10)
        self.built.append(self)


@lazy_singleton
def get_client() -> Client:
    """Return the client, built on the first call."""
    return Client()


def warm_up() -> Thread:
    """Start to connect, so that the first request need not."""
    thread = Thread(target=_try_to_connect, name="warm-up", daemon=True)
    thread.start()
    return thread


def _try_to_connect() -> None:
    try:
        get_client()
    except Exception:  # nobody waits for this thread: the first request will try again
        logger.exception("could not connect ahead of time")


if __name__ == "__main__":
    thread = warm_up()
    assert Client.connecting.wait(timeout=10)
    assert get_client.peek() is None  # never waits: "not ready yet"
    Client.connected.set()
    client = get_client()  # waits for the warm-up, and builds nothing
    thread.join(timeout=10)
    assert Client.built == [client]
