"""One client, whichever task comes first, and closed before the loop ends."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from plugin_utils import aio


class Client:
    """Stands for an asynchronous SDK client, which is connected before it is used."""

    made: ClassVar[list[Client]] = []
    closed: ClassVar[list[Client]] = []

    @classmethod
    async def connect(cls) -> Client:
        """Return a connected client."""
        await asyncio.sleep(0)  # stands for the handshake: other tasks run meanwhile
        cls.made.append(cls())
        return cls.made[-1]

    async def aclose(self) -> None:
        """Close the connection."""
        await asyncio.sleep(0)
        self.closed.append(self)


@aio.lazy_singleton(close=Client.aclose)
async def get_client() -> Client:
    """Return the client, made on the first call."""
    return await Client.connect()


async def main() -> None:
    """Load two parts of a page at once; each needs the client."""
    try:
        first, second = await asyncio.gather(get_client(), get_client())
        assert first is second
        assert len(Client.made) == 1
    finally:
        await get_client.aclose()
    assert Client.closed == Client.made


if __name__ == "__main__":
    asyncio.run(main())
