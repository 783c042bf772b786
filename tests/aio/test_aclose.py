"""`aclose`: drops what the running loop has, and closes it there."""

import asyncio
import gc
import weakref
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from plugin_utils import BuildDeadlockError, RecursiveBuildError, aio
from plugin_utils.aio._guard import guard
from plugin_utils.aio._work import Work
from tests.aio.clients import Client, Factory, connect, new_slot
from tests.aio.conftest import Run
from tests.support.loops import LIMIT, Scope, at_rest, happened, in_threads, run_on

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


class Closer:
    """A `close` that goes on when it is let, and tells how far it is."""

    def __init__(self, error: Exception | None = None) -> None:
        self.begun: list[object] = []
        self.closed: list[object] = []
        self.open = asyncio.Event()
        self.error = error

    async def __call__(self, instance: object) -> None:
        """Close when let."""
        self.begun.append(instance)
        await self.open.wait()
        self.closed.append(instance)
        if self.error is not None:
            raise self.error


@pytest.mark.promise(28)
@pytest.mark.parametrize("scope", ["loop", "process"])
@pytest.mark.parametrize("dropped_by", ["reset", "aclose"])
def test_aclose_waits_for_a_build_that_was_dropped_before(
    run: Run, scope: Scope, dropped_by: str
) -> None:
    """It drops nothing, and yet returns only when the client of that build is closed."""

    async def main() -> None:
        factory, close = Factory(), Closer()
        slot: aio.SingletonSlot[Client] = aio.SingletonSlot(scope=scope, close=close)
        caller = asyncio.create_task(slot.get(factory))
        await at_rest()
        caller.cancel()
        await at_rest()
        first = asyncio.create_task(_dropped(slot) if dropped_by == "reset" else slot.aclose())
        second = asyncio.create_task(slot.aclose())
        await at_rest()
        assert not second.done()  # the factory runs
        factory.open.set()
        await at_rest()
        assert close.begun == factory.made
        assert not second.done()  # the client is being closed
        close.open.set()
        assert [await first, await second] == [True, False]
        assert close.closed == factory.made

    run(main())


def test_who_waits_for_the_end_is_not_woken_by_the_outcome(run: Run) -> None:
    """A `reset` in another thread can tell of the outcome after `aclose` has begun to wait."""

    async def main() -> None:
        work = Work("client")
        hasty = asyncio.create_task(work.wait(work.enlist()))
        patient = asyncio.create_task(work.wait(work.enlist(until_ended=True)))
        await at_rest()
        work.settle()
        await at_rest()
        assert (hasty.done(), patient.done()) == (True, False)
        work.end()
        await asyncio.wait_for(patient, 10)

    run(main())


async def _dropped(slot: aio.SingletonSlot[Client]) -> bool:
    return slot.reset()


@pytest.mark.promise(28)
@pytest.mark.parametrize("scope", ["loop", "process"])
def test_aclose_waits_for_a_close_that_is_under_way(run: Run, scope: Scope) -> None:
    """Two come together: one drops and closes, and neither returns before all is closed."""

    async def main() -> None:
        close = Closer()
        slot: aio.SingletonSlot[Client] = aio.SingletonSlot(scope=scope, close=close)
        client = await slot.get(connect)
        both = [asyncio.create_task(slot.aclose()) for _ in range(2)]
        await at_rest()
        assert close.begun == [client]
        assert not any(each.done() for each in both)
        close.open.set()
        assert [await each for each in both] == [True, False]

    run(main())


@pytest.mark.promise(28)
def test_aclose_waits_for_a_close_on_another_loop(new_loop: NewLoop) -> None:
    """With one instance for all loops, a second loop may come while the first one closes."""
    closing, go_on = Event(), Event()
    closed: list[Client] = []

    async def close(client: Client) -> None:
        closing.set()
        await happened(go_on)
        closed.append(client)

    slot: aio.SingletonSlot[Client] = aio.SingletonSlot(scope="process", close=close)

    async def first() -> list[Client]:
        client = await slot.get(connect)
        assert await slot.aclose()
        return [client]

    async def second() -> list[Client]:
        await happened(closing)
        waits = asyncio.create_task(slot.aclose())
        await at_rest()
        too_early = waits.done()
        go_on.set()
        assert not too_early
        assert not await waits
        return list(closed)

    mine, seen = in_threads(lambda: run_on(new_loop, first()), lambda: run_on(new_loop, second()))
    assert mine == seen


@pytest.mark.promise(28)
def test_aclose_leaves_the_closes_of_other_loops_alone(new_loop: NewLoop) -> None:
    """With an instance for each loop, what another loop does is not waited for."""
    closing, go_on = Event(), Event()

    async def close(_: Client) -> None:
        if not closing.is_set():
            closing.set()
            await happened(go_on)

    accessor = aio.lazy_singleton(close=close)(connect)

    async def use() -> bool:
        await accessor()
        return await accessor.aclose()

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(run_on, new_loop, use())
        try:
            assert closing.wait(LIMIT)
            assert run_on(new_loop, use())
            assert not other.done()
        finally:
            go_on.set()
        assert other.result(LIMIT)


@pytest.mark.promise(28)
def test_close_that_fails_beside_another(run: Run) -> None:
    """The error reaches the caller, but not before the other client is closed, too."""

    async def main() -> None:
        factory, close = Factory(), Closer(OSError("already closed"))

        async def close_each(client: Client) -> None:
            await (close(client) if client in factory.made else client.aclose())
            if client not in factory.made:
                raise OSError("already closed")

        reports: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, each: reports.append(each))
        slot: aio.SingletonSlot[Client] = aio.SingletonSlot(close=close_each)
        caller = asyncio.create_task(slot.get(factory))
        await at_rest()
        slot.reset()
        caller.cancel()
        factory.open.set()
        served = await slot.get(connect)
        closing = asyncio.create_task(slot.aclose())
        await at_rest()
        assert served.closed_on
        assert not closing.done()
        close.open.set()
        with pytest.raises(OSError, match="already closed"):
            await closing
        assert close.closed == factory.made
        assert len(reports) == 1  # of the build that was in vain

    run(main())


@pytest.mark.promise(28)
def test_aclose_that_gives_up_waiting_for_another(run: Run) -> None:
    """A time limit ends this wait at once; the close goes on."""

    async def main() -> None:
        close = Closer()
        slot: aio.SingletonSlot[Client] = aio.SingletonSlot(close=close)
        client = await slot.get(connect)
        first = asyncio.create_task(slot.aclose())
        await at_rest()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(slot.aclose(), 0.001)
        close.open.set()
        assert await first
        assert close.closed == [client]

    run(main())


@pytest.mark.promise(28)
def test_close_that_is_cancelled_is_over(run: Run) -> None:
    """Who cancels an `aclose` cuts its `close` short; another one waits no longer then."""

    async def main() -> None:
        close = Closer()
        slot: aio.SingletonSlot[Client] = aio.SingletonSlot(close=close)
        await slot.get(connect)
        both = [asyncio.create_task(slot.aclose()) for _ in range(2)]
        await at_rest()
        both[0].cancel()
        assert await both[1] is False
        assert close.closed == []

    run(main())


async def _at_once(call: Callable[[], Awaitable[bool]]) -> bool:
    return await call()


async def _in_child_task(call: Callable[[], Awaitable[bool]]) -> bool:
    return await asyncio.create_task(_at_once(call))


@pytest.mark.promise(10, 28)
@pytest.mark.parametrize("served", [True, False])
@pytest.mark.parametrize("way", [_at_once, _in_child_task])
def test_close_may_call_aclose(
    run: Run,
    served: bool,  # noqa: FBT001 - both ways
    way: Callable[[Callable[[], Awaitable[bool]]], Awaitable[bool]],
) -> None:
    """It does not wait for itself, be its instance served or made in vain."""

    async def main() -> None:
        slot: aio.SingletonSlot[Client]
        answers: list[bool] = []

        async def close(_: Client) -> None:
            answers.append(await way(slot.aclose))

        slot, factory = aio.SingletonSlot(close=close), Factory()
        caller = asyncio.create_task(slot.get(factory))
        await at_rest()
        if served:
            factory.open.set()
            await caller
        else:
            slot.reset()
            caller.cancel()
            factory.open.set()
        assert await slot.aclose() is served
        assert answers == [False]

    run(main())


@pytest.mark.promise(10, 28)
def test_closes_that_wait_for_each_other(run: Run) -> None:
    """Two clients close each other's slot, too: the one that comes last does not wait."""

    async def main() -> None:
        slots: list[aio.SingletonSlot[Client]] = []
        begun = [asyncio.Event(), asyncio.Event()]
        closed: list[Client] = []

        def closes(mine: int) -> Callable[[Client], Awaitable[None]]:
            async def close(client: Client) -> None:
                begun[mine].set()
                await begun[1 - mine].wait()
                assert not await slots[1 - mine].aclose()
                closed.append(client)

            return close

        slots.extend(aio.SingletonSlot(close=closes(mine)) for mine in range(2))
        clients = await asyncio.gather(*(slot.get(connect) for slot in slots))
        assert await asyncio.gather(*(slot.aclose() for slot in slots)) == [True, True]
        assert set(closed) == set(clients)

    run(main())


@pytest.mark.promise(10, 28)
def test_close_that_needs_what_closes_it(run: Run) -> None:
    """The factory of B waits for A's end, and A's `close` for B: it is told so, with the names."""

    async def main() -> None:
        b: aio.SingletonSlot[bool] = aio.SingletonSlot(name="b")
        told: list[tuple[str, ...]] = []

        async def close(client: Client) -> None:
            with pytest.raises(BuildDeadlockError) as caught:
                await b.get(a.aclose)
            told.append(caught.value.cycle)
            await client.aclose()

        a, factory = aio.SingletonSlot[Client](close=close, name="a"), Factory()
        caller = asyncio.create_task(a.get(factory))
        await at_rest()
        a.reset()
        caller.cancel()
        building = asyncio.create_task(b.get(a.aclose))
        await at_rest()
        factory.open.set()
        assert await building is False
        assert told == [("a", "b", "a")]
        assert factory.made[0].closed_on

    run(main())


@pytest.mark.promise(30)
def test_close_that_needs_the_build_it_is_part_of(run: Run) -> None:
    """X's factory closes A, and A's `close` wants X: the error of a factory that comes back."""

    async def main() -> None:
        x: aio.SingletonSlot[bool] = aio.SingletonSlot(name="x")

        async def close(_: Client) -> None:
            await x.get(a.aclose)

        a: aio.SingletonSlot[Client] = aio.SingletonSlot(close=close, name="a")
        await a.get(connect)
        with pytest.raises(RecursiveBuildError, match=r"^x: get\(\)"):
            await x.get(a.aclose)

    run(main())


@pytest.mark.promise(31)
def test_circle_through_a_close(run: Run) -> None:
    """X's factory closes A, A's `close` needs B, and B needs X: who comes last is told."""

    async def main() -> None:
        x: aio.SingletonSlot[object] = aio.SingletonSlot(name="x")
        b: aio.SingletonSlot[object] = aio.SingletonSlot(name="b")

        async def close(_: Client) -> None:
            await b.get(build_b)

        async def build_b() -> object:
            return await x.get(a.aclose)

        a: aio.SingletonSlot[Client] = aio.SingletonSlot(close=close, name="a")
        await a.get(connect)
        with pytest.raises(BuildDeadlockError, match="circular singletons: b -> x -> a -> b"):
            await x.get(a.aclose)

    run(main())


def test_task_that_outlives_a_close_is_no_part_of_it(run: Run) -> None:
    """What a `close` leaves behind may wait for a later one."""

    async def main() -> None:
        left: list[asyncio.Task[bool]] = []
        go_on = asyncio.Event()
        later = Closer()

        async def stay() -> bool:
            await go_on.wait()
            return await slot.aclose()

        async def close(client: Client) -> None:
            if left:
                await later(client)
            else:
                left.append(asyncio.create_task(stay()))

        slot: aio.SingletonSlot[Client] = aio.SingletonSlot(close=close)
        await slot.get(connect)
        assert await slot.aclose()
        await slot.get(connect)
        closing = asyncio.create_task(slot.aclose())
        await at_rest()
        go_on.set()
        await at_rest()
        assert not left[0].done()
        later.open.set()
        assert [await closing, await left[0]] == [True, False]

    run(main())


@pytest.mark.promise(28)
def test_loop_that_is_closed_in_the_middle_of_a_close(new_loop: NewLoop) -> None:
    """Another loop waits for nothing that cannot go on, and nothing keeps the closed one alive."""

    async def close(_: Client) -> None:
        await asyncio.Event().wait()

    slot: aio.SingletonSlot[Client] = aio.SingletonSlot(scope="process", close=close)
    loop = new_loop()
    loop.run_until_complete(slot.get(connect))
    closing = slot.aclose()
    loop.call_soon(closing.send, None)  # no task, of which asyncio would complain
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    assert run_on(new_loop, slot.aclose()) is False
    gone = weakref.ref(loop)
    del loop, closing
    gc.collect()
    assert gone() is None
    assert slot._table._closing == set()


class Watched:
    """Stands for the guard's lock, and looks at a slot when another thread could have it next."""

    def __init__(self, look: Callable[[], None]) -> None:
        self._lock, self._depth, self._look = guard.lock, 0, look

    def __enter__(self) -> None:
        self._lock.acquire()
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        try:
            if not self._depth:
                self._look()
        finally:
            self._lock.release()


@pytest.mark.promise(28)
def test_other_threads_find_what_is_under_way(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has the lock next sees a build, or a close, as soon as it finds the place changed."""
    slot = new_slot(scope="process")
    table = slot._table
    seen: list[tuple[bool, bool, bool]] = []

    async def main() -> None:
        caller = asyncio.create_task(slot.get(connect))
        with monkeypatch.context() as patch:
            patch.setattr(guard, "lock", Watched(look))
            client = await caller
            await slot.aclose()
        assert client.closed_on

    def look() -> None:
        seen.append((bool(table.builds), bool(table._running), bool(table._closing)))

    run(main())
    begun = next(each for each in seen if each[0])
    assert begun[1]
    dropped = next(each for each in seen[seen.index(begun) :] if not each[0])
    assert dropped[2]
