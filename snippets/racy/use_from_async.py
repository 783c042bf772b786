"""Two tasks call first, and both make a client: the building awaits."""

from __future__ import annotations

import asyncio
from typing import ClassVar


class Client:
    """Stands for an asynchronous SDK client, which is connected before it is used."""

    made: ClassVar[list[Client]] = []

    @classmethod
    async def connect(cls) -> Client:
        """Return a connected client."""
        await asyncio.sleep(0)  # stands for the handshake: other tasks run meanwhile
        cls.made.append(cls())
        return cls.made[-1]


_client: Client | None = None


async def get_client() -> Client:
    """Return the client, made on the first call."""
    global _client
    if _client is None:
        _client = await Client.connect()
    return _client


async def main() -> None:
    """Load two parts of a page at once; each needs the client."""
    await asyncio.gather(get_client(), get_client())
    assert len(Client.made) == 1, f"{len(Client.made)} clients were made"


if __name__ == "__main__":
    asyncio.run(main())
