"""The client that the apps share: one kept-alive connection to a server of the test.

The environment says what is tested: `SERVER_PORT`, `ACCESSOR`, and `BUILDS`, the file that gets
a line with the process for each client built.
"""

import os
from collections.abc import Callable
from functools import cache
from http.client import HTTPConnection
from threading import Lock

from plugin_utils import lazy_singleton
from tests.support.overlap import Overlap

__all__ = ("Client", "get_client", "record_build")

_overlaps: dict[int, Overlap] = {}


def record_build() -> Overlap:
    """Note that this process builds a client, and return what its first build waits for."""
    with open(os.environ["BUILDS"], "a", encoding="utf-8") as builds:  # noqa: PTH123 - appends
        builds.write(f"{os.getpid()}\n")
    return _overlaps.setdefault(os.getpid(), Overlap())


class Client:
    """A connection that threads may share."""

    def __init__(self) -> None:
        record_build()()
        self._lock = Lock()
        self._connection = HTTPConnection("127.0.0.1", int(os.environ["SERVER_PORT"]), timeout=30)
        self._connection.connect()

    def ask(self) -> str:
        """Ask the server, and return its answer."""
        with self._lock:
            self._connection.request("GET", "/")
            return self._connection.getresponse().read().decode()

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._connection.close()


def _racy(factory: Callable[[], Client]) -> Callable[[], Client]:
    built: list[Client] = []

    def accessor() -> Client:
        if not built:
            built.append(factory())
        return built[-1]

    return accessor


_ACCESSORS: dict[str, Callable[[Callable[[], Client]], Callable[[], Client]]] = {
    "lazy_singleton": lazy_singleton(close=Client.close),
    "racy": _racy,
    "cache": cache,
}
get_client = _ACCESSORS[os.environ["ACCESSOR"]](Client)
