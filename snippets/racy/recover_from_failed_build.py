"""A flag is set before the work it stands for: readers get nothing, and a failure is for ever."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import ClassVar


class Client:
    """Stands for an SDK client whose server is down when it is made first."""

    tries: ClassVar[list[Client]] = []
    connecting: ClassVar[Event] = Event()
    refuse: ClassVar[Event] = Event()

    def __init__(self) -> None:
        self.tries.append(self)
        self.connecting.set()
        self.refuse.wait(timeout=10)
        if len(self.tries) == 1:
            msg = "the server is restarting"
            raise ConnectionError(msg)


_started = False
_client: Client | None = None


def get_client() -> Client | None:
    """Return the client, built on the first call."""
    global _client, _started
    if not _started:
        _started = True
        _client = Client()
    return _client


if __name__ == "__main__":
    with ThreadPoolExecutor(1) as other:
        first = other.submit(get_client)
        assert Client.connecting.wait(timeout=10)
        during = get_client()  # another thread is still connecting
        Client.refuse.set()
    assert isinstance(first.exception(), ConnectionError)
    after = get_client()  # the server would answer now
    assert None not in (during, after), f"during the build: {during}, after it failed: {after}"
