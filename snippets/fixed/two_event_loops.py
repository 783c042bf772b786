"""A client for each event loop: each works on its own."""

from __future__ import annotations

import asyncio

from plugin_utils import aio


class Client:
    """Stands for an asynchronous SDK client: what it waits with belongs to one loop."""

    def __init__(self) -> None:
        self._answers: asyncio.Queue[str] = asyncio.Queue()

    async def ask(self) -> str:
        """Send a question and wait for the answer."""
        asyncio.get_running_loop().call_soon(self._answers.put_nowait, "42")
        return await self._answers.get()


@aio.lazy_singleton
async def get_client() -> Client:
    """Return the running loop's client, made on its first call."""
    return Client()


async def handle() -> str:
    """Answer a request."""
    client = await get_client()
    return await client.ask()


if __name__ == "__main__":
    assert asyncio.run(handle()) == "42"
    assert asyncio.run(handle()) == "42"  # the next request: a new loop, a new client
