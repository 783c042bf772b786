"""One client for all threads, and a counter in it that loses a message."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import ClassVar

from plugin_utils import lazy_singleton


class Client:
    """Counts what it sends."""

    between: ClassVar[Barrier] = Barrier(2)

    def __init__(self) -> None:
        self.sent = 0

    def send(self) -> None:
        """Send a message. `self.sent += 1` is these two steps; both threads are between them."""
        sent = self.sent
        self.between.wait(timeout=10)
        self.sent = sent + 1


@lazy_singleton
def get_client() -> Client:
    """Return the client, built on the first call."""
    return Client()


if __name__ == "__main__":
    with ThreadPoolExecutor(2) as threads:
        calls = [threads.submit(get_client().send) for _ in range(2)]
    assert not any(call.exception() for call in calls)
    assert get_client().sent == 2, f"2 messages sent, {get_client().sent} counted"
