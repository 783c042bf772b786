"""An ASGI app whose client is built by a coroutine, on first use, and closed at shutdown."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from typing import Any

from plugin_utils import aio
from tests.hosts.apps.client import record_build

__all__ = ("app",)

Event = dict[str, Any]


class Client:
    """A connection that tasks may share."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._lock = asyncio.Lock()

    @classmethod
    async def connect(cls) -> "Client":
        """Open the connection; the first one takes until a second one is begun, or a moment."""
        await asyncio.to_thread(record_build())
        port = int(os.environ["SERVER_PORT"])
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def ask(self) -> str:
        """Ask the server, and return its answer."""
        async with self._lock:
            self._writer.write(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
            await self._reader.readuntil(b"\r\n\r\n")
            return (await self._reader.readexactly(2)).decode()

    async def close(self) -> None:
        """Close the connection."""
        self._writer.close()
        await self._writer.wait_closed()


_built: list[Client] = []


async def _racy_client() -> Client:
    if not _built:
        _built.append(await Client.connect())  # plugin-utils: ignore[LS040] racy on purpose
    return _built[-1]


async def _close_racy() -> None:
    for client in _built:
        await client.close()


_get_client = aio.lazy_singleton(close=Client.close)(Client.connect)
_RACY = os.environ["ACCESSOR"] == "racy"


async def app(
    scope: dict[str, Any],
    receive: Callable[[], Awaitable[Event]],
    send: Callable[[Event], Awaitable[None]],
) -> None:
    """Answer with this process's number and with what the server says."""
    if scope["type"] == "lifespan":
        await _live(receive, send)
        return
    client = await (_racy_client() if _RACY else _get_client())
    body = json.dumps({"pid": os.getpid(), "answer": await client.ask()}).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


async def _live(
    receive: Callable[[], Awaitable[Event]], send: Callable[[Event], Awaitable[None]]
) -> None:
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await (_close_racy() if _RACY else _get_client.aclose())
    await send({"type": "lifespan.shutdown.complete"})
