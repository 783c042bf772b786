"""`aclose`: drops what the running loop has, and closes it there."""

import asyncio
from collections.abc import Callable

import pytest

from plugin_utils import aio
from tests.aio.clients import Client, Factory, connect, new_slot
from tests.aio.conftest import Run
from tests.support.loops import Scope, at_rest, run_on

NewLoop = Callable[[], asyncio.AbstractEventLoop]


@pytest.mark.promise(28)
@pytest.mark.parametrize("scope", ["loop", "process"])
def test_aclose_drops_and_closes(run: Run, scope: Scope) -> None:
    """It says whether there was something; a second one finds nothing; the next `get` builds."""

    async def main() -> None:
        slot = new_slot(scope=scope)
        assert not await slot.aclose()
        client = await slot.get(connect)
        assert list(await asyncio.gather(slot.aclose(), slot.aclose())) == [True, False]
        assert client.closed_on == [asyncio.get_running_loop()]
        assert slot.peek() is None
        assert await slot.get(connect) is not client

    run(main())


@pytest.mark.promise(28)
def test_aclose_is_for_the_running_loop(new_loop: NewLoop) -> None:
    """Another loop's client stays, and is closed there and nowhere else."""
    accessor = aio.lazy_singleton(close=Client.aclose)(connect)
    with asyncio.Runner(loop_factory=new_loop) as one, asyncio.Runner(loop_factory=new_loop) as two:
        first, second = one.run(accessor()), two.run(accessor())
        assert two.run(accessor.aclose())
        assert second.closed_on == [two.get_loop()]
        assert one.run(accessor()) is first
        assert one.run(accessor.aclose())
        assert first.closed_on == [one.get_loop()]


@pytest.mark.promise(28)
def test_aclose_never_touches_what_a_dead_loop_left(run: Run) -> None:
    """A client of a closed loop cannot be closed on another loop; it is only let go."""
    accessor = aio.lazy_singleton(close=Client.aclose)(connect)
    left = run(accessor())

    async def main() -> None:
        assert not await accessor.aclose()
        await accessor()
        assert await accessor.aclose()

    run(main())
    assert left.closed_on == []


@pytest.mark.promise(28)
def test_close_may_be_a_function(run: Run) -> None:
    """What `close` returns is awaited if it can be, and let go otherwise."""
    closed: list[Client] = []

    async def main() -> None:
        accessor = aio.lazy_singleton(close=closed.append)(connect)
        client = await accessor()
        assert await accessor.aclose()
        assert closed == [client]

    run(main())


def test_aclose_without_close_drops(run: Run) -> None:
    """A slot that was not told how to close only empties itself."""

    async def main() -> None:
        accessor = aio.lazy_singleton(connect)
        client = await accessor()
        assert await accessor.aclose()
        assert await accessor() is not client

    run(main())


@pytest.mark.promise(28)
def test_close_that_fails(run: Run) -> None:
    """Its error reaches the caller of `aclose`, and the slot is empty nevertheless."""

    async def close(_: Client) -> None:
        raise OSError("already closed")

    async def main() -> None:
        accessor = aio.lazy_singleton(close=close)(connect)
        await accessor()
        with pytest.raises(OSError, match="already closed"):
            await accessor.aclose()
        assert accessor.peek() is None

    run(main())


@pytest.mark.promise(28)
def test_aclose_during_a_build(run: Run) -> None:
    """It returns when the unwanted client is closed; who waited gets another, open one."""

    async def main() -> None:
        may_close, closed, factory = asyncio.Event(), list[Client](), Factory()

        async def close(client: Client) -> None:
            await may_close.wait()
            closed.append(client)

        slot: aio.SingletonSlot[Client] = aio.SingletonSlot(close=close)
        caller = asyncio.create_task(slot.get(factory))
        await at_rest()
        closing = asyncio.create_task(slot.aclose())
        await at_rest()
        factory.open.set()
        kept = await caller
        await at_rest()
        assert not closing.done()
        may_close.set()
        assert await closing
        assert closed == [each for each in factory.made if each is not kept]
        assert len(factory.made) == 2

    run(main())


@pytest.mark.promise(28)
def test_aclose_that_gives_up_waiting(run: Run) -> None:
    """A time limit on `aclose` ends the wait; the build is unwanted all the same."""

    async def main() -> None:
        slot, factory = new_slot(), Factory()
        caller = asyncio.create_task(slot.get(factory))
        await at_rest()
        caller.cancel()
        await at_rest()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(slot.aclose(), 0.001)
        factory.open.set()
        await at_rest()
        assert slot.peek() is None
        assert factory.made[0].closed_on == [asyncio.get_running_loop()]

    run(main())


@pytest.mark.promise(27, 28)
def test_aclose_of_a_build_whose_loop_has_stopped(new_loop: NewLoop) -> None:
    """It does not wait for what may never go on."""
    slot, factory = new_slot(scope="process"), Factory()
    with asyncio.Runner(loop_factory=new_loop) as stopped:
        caller = stopped.get_loop().create_task(slot.get(factory))
        stopped.run(at_rest())
        assert run_on(new_loop, slot.aclose())
        caller.cancel()


@pytest.mark.promise(10)
def test_close_may_use_the_accessor(run: Run) -> None:
    """The slot is empty by then: it builds anew, be the closed one served or never published."""

    async def main() -> None:
        slot: aio.SingletonSlot[Client]
        used: list[Client] = []

        async def close(_: Client) -> None:
            used.append(await slot.get(connect))

        slot, factory = aio.SingletonSlot(close=close), Factory()
        served = await slot.get(connect)
        await slot.aclose()
        assert used[0] is slot.peek()
        assert served is not used[0]
        slot.reset()
        caller = asyncio.create_task(slot.get(factory))
        await at_rest()
        slot.reset()
        caller.cancel()
        factory.open.set()
        await at_rest()
        assert used[1] is slot.peek()

    run(main())
