"""One client for all threads, which guards what it changes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Lock

from plugin_utils import lazy_singleton


class Client:
    """Counts what it sends."""

    def __init__(self) -> None:
        self.sent = 0
        self._lock = Lock()  # guards `sent`

    def send(self) -> None:
        """Send a message."""
        with self._lock:
            self.sent += 1


@lazy_singleton
def get_client() -> Client:
    """Return the client, built on the first call."""
    return Client()


if __name__ == "__main__":
    with ThreadPoolExecutor(20) as threads:
        calls = [threads.submit(get_client().send) for _ in range(1000)]
    assert not any(call.exception() for call in calls)
    assert get_client().sent == 1000
