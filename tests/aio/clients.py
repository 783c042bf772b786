"""A client that tells who closed it, and ways to make one."""

import asyncio

from plugin_utils import aio
from tests.support.loops import Scope

__all__ = ("Client", "Factory", "connect", "new_slot")


class Client:
    """Knows who closed it."""

    def __init__(self) -> None:
        self.closed_on: list[asyncio.AbstractEventLoop] = []

    async def aclose(self) -> None:
        """Close, with a wait as in a real client."""
        await asyncio.sleep(0)
        self.closed_on.append(asyncio.get_running_loop())


class Factory:
    """Makes clients, when it is let."""

    def __init__(self) -> None:
        self.made: list[Client] = []
        self.open = asyncio.Event()

    async def __call__(self) -> Client:
        """Make a client when the event is set."""
        await self.open.wait()
        self.made.append(Client())
        return self.made[-1]


async def connect() -> Client:
    """Make a client in two steps."""
    await asyncio.sleep(0)
    return Client()


def new_slot(scope: Scope = "loop") -> aio.SingletonSlot[Client]:
    """Return a slot for such clients, which closes them."""
    return aio.SingletonSlot(scope=scope, close=Client.aclose, name="client")
