"""What type checkers know: each line is checked by both of them, and run."""

import asyncio
from typing import assert_type

from plugin_utils import aio


class Client:
    """Has a close that is a coroutine function."""

    async def aclose(self) -> None:
        """Close."""


@aio.lazy_singleton
async def plain() -> Client:
    """Make a client."""
    return Client()


@aio.lazy_singleton(scope="process", close=Client.aclose, fork="keep")
async def with_options() -> Client:
    """Make a client."""
    return Client()


async def connect(host: str, port: int) -> Client:
    """Make a client of a server."""
    assert (host, port) == ("127.0.0.1", 80)
    return Client()


def test_accessor_keeps_its_type() -> None:
    """Awaiting an accessor gives what its factory returns; `reset` and its like are known."""

    async def main() -> None:
        assert_type(plain.peek(), Client | None)
        for accessor in (plain, with_options):
            assert_type(await accessor(), Client)
            assert_type(accessor.peek("none"), Client | str)
            assert_type(await asyncio.create_task(accessor()), Client)
            assert_type(accessor.reset(expected=None), bool)
            assert_type(await accessor.aclose(), bool)

    asyncio.run(main())


def test_slot_keeps_its_type() -> None:
    """So does a slot, and it checks its factory's arguments."""
    slot = aio.SingletonSlot[Client](close=Client.aclose)

    async def main() -> None:
        assert_type(await slot.get(connect, "127.0.0.1", 80), Client)
        assert_type(slot.peek(), Client | None)
        assert_type(slot.peek(0), Client | int)
        assert_type(await slot.aclose(), bool)
        assert_type(slot.reset(), bool)

    asyncio.run(main())
