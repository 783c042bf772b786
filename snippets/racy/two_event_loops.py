"""One client for two event loops: it works in the first one only."""

from __future__ import annotations

import asyncio


class Client:
    """Stands for an asynchronous SDK client: what it waits with belongs to one loop."""

    def __init__(self) -> None:
        self._answers: asyncio.Queue[str] = asyncio.Queue()

    async def ask(self) -> str:
        """Send a question and wait for the answer."""
        asyncio.get_running_loop().call_soon(self._answers.put_nowait, "42")
        return await self._answers.get()


_client: Client | None = None


def get_client() -> Client:
    """Return the client, made on the first call."""
    global _client
    if _client is None:
        _client = Client()
    return _client


async def handle() -> str:
    """Answer a request."""
    return await get_client().ask()


if __name__ == "__main__":
    assert asyncio.run(handle()) == "42"
    try:
        asyncio.run(handle())  # the next request: a new loop
    except RuntimeError as error:
        message = "the client belongs to the first loop"
        raise AssertionError(message) from error
