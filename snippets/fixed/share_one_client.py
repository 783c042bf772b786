"""One client, whoever calls first."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import ClassVar

from plugin_utils import lazy_singleton


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
    start = Barrier(20)

    def _call_first() -> Client:
        start.wait(timeout=10)
        return get_client()

    with ThreadPoolExecutor(20) as threads:
        calls = [threads.submit(_call_first) for _ in range(20)]
    assert {call.result() for call in calls} == {get_client()}
    assert len(Client.built) == 1
