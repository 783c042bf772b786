"""The same names as before, on top of an accessor that keeps its promise."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import ClassVar

from plugin_utils import lazy_singleton


class Client:
    """Stands for an SDK client, which opens a connection when it is made."""

    connecting: ClassVar[Event] = Event()
    connected: ClassVar[Event] = Event()

    def __init__(self) -> None:
        self.connecting.set()
        self.connected.wait(timeout=10)


@lazy_singleton
def get_client() -> Client:
    """Return the client, built on the first call."""
    return Client()


def reset_client() -> None:
    """Forget the client, so that the next call builds another one."""
    get_client.reset()


def __getattr__(name: str) -> object:
    """Answer readers of the global that is gone: `module._client`."""
    if name == "_client":
        return get_client.peek()
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)


if __name__ == "__main__":
    with ThreadPoolExecutor(2) as others:
        early = others.submit(get_client)
        assert Client.connecting.wait(timeout=10)
        resetting = others.submit(reset_client)  # waits for the build, then drops it
        Client.connected.set()
        resetting.result()
    assert get_client() is not early.result()
