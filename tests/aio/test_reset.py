"""`reset`: drops what all loops have, never waits, never closes."""

import asyncio
import gc
import weakref
from collections.abc import Callable
from contextvars import Context
from threading import Barrier, Event
from typing import Any

import pytest

from plugin_utils import aio
from plugin_utils.aio._guard import guard
from tests.aio.clients import Client, Factory, connect, new_slot
from tests.aio.conftest import Run
from tests.support.loops import LIMIT, Scope, at_rest, in_threads, run_on

NewLoop = Callable[[], asyncio.AbstractEventLoop]
Report = dict[str, Any]


def _record_reports() -> list[Report]:
    reports: list[Report] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, report: reports.append(report))
    return reports


@pytest.mark.promise(28)
def test_reset_drops_the_instances_of_all_loops(new_loop: NewLoop) -> None:
    """It needs no loop, waits for nothing and closes nothing: it is plain sync code."""
    slot = new_slot()
    with asyncio.Runner(loop_factory=new_loop) as one, asyncio.Runner(loop_factory=new_loop) as two:
        first, second = one.run(slot.get(connect)), two.run(slot.get(connect))
        assert slot.reset()
        assert not slot.reset()
        assert one.run(slot.get(connect)) is not first
        assert two.run(slot.get(connect)) is not second
        one.run(at_rest())
        two.run(at_rest())
        assert first.closed_on == second.closed_on == []


@pytest.mark.promise(28)
@pytest.mark.learned("closing-from-sync-code")
def test_reset_under_a_running_loop_does_not_wait(run: Run) -> None:
    """Sync code that evicts a stale client under a running loop changes state and returns."""

    async def main() -> None:
        slot = new_slot()
        client = await slot.get(connect)
        assert slot.reset()
        assert slot.peek() is None
        assert await slot.get(connect) is not client
        assert client.closed_on == []

    run(main())


@pytest.mark.promise(28)
def test_reset_of_an_expected_instance(run: Run) -> None:
    """Two tasks that find one client stale drop it once, and not the next one."""

    async def main() -> None:
        slot = new_slot()
        stale = await slot.get(connect)
        assert slot.reset(expected=stale)
        fresh = await slot.get(connect)
        assert not slot.reset(expected=stale)
        assert slot.peek() is fresh

    run(main())


@pytest.mark.promise(28)
def test_reset_of_an_expected_instance_spares_a_build(run: Run) -> None:
    """What is being built is not what the caller has found stale."""

    async def main() -> None:
        slot, factory = new_slot(), Factory()
        caller = asyncio.create_task(slot.get(factory))
        await at_rest()
        assert not slot.reset(expected=None)
        factory.open.set()
        assert await caller is factory.made[0]

    run(main())


@pytest.mark.promise(28)
@pytest.mark.learned("loser-left-open")
def test_reset_during_a_build(run: Run) -> None:
    """What was being built is never served; its own loop closes it; all callers get the next."""

    async def main() -> None:
        slot, factory = new_slot(), Factory()
        callers = [asyncio.create_task(slot.get(factory)) for _ in range(5)]
        await at_rest()
        assert slot.reset()
        factory.open.set()
        got = set(await asyncio.gather(*callers))
        await at_rest()
        discarded, kept = factory.made
        assert got == {kept}
        assert slot.peek() is kept
        assert discarded.closed_on == [asyncio.get_running_loop()]
        assert kept.closed_on == []

    run(main())


@pytest.mark.promise(28)
def test_reset_after_a_build_and_before_its_callers_go_on(run: Run) -> None:
    """They look again when they are woken, and build: what was reset is not served."""

    async def main() -> None:
        slot, made = new_slot(), list[Client]()

        async def factory() -> Client:
            await at_rest()
            if not made:
                asyncio.get_running_loop().call_soon(slot.reset)
            made.append(Client())
            return made[-1]

        got = await asyncio.gather(*(slot.get(factory) for _ in range(3)))
        assert got == [made[1]] * 3
        assert made[0].closed_on == []

    run(main())


@pytest.mark.promise(28)
def test_reset_from_another_thread_during_a_build(new_loop: NewLoop) -> None:
    """The waiting task is woken on its own loop; the late client is closed there."""
    slot = new_slot()
    begun = Event()
    made: list[Client] = []

    async def main() -> Client:
        dropped = asyncio.Event()

        async def factory() -> Client:
            if not begun.is_set():
                begun.set()
                await dropped.wait()
            made.append(Client())
            return made[-1]

        got = await slot.get(factory)
        dropped.set()
        await at_rest()
        assert made == [got, made[1]]
        assert made[1].closed_on == [asyncio.get_running_loop()]
        return got

    def drop() -> Client | None:
        assert begun.wait(LIMIT)
        assert slot.reset()
        return None

    got, _ = in_threads(lambda: run_on(new_loop, main()), drop)
    assert got is made[0]
    assert made[0].closed_on == []


@pytest.mark.promise(28)
def test_reset_just_before_a_build_fails(run: Run) -> None:
    """Its caller gets the next instance, and not the error of a build that is not wanted."""

    async def main() -> None:
        reports, error = _record_reports(), OSError("refused")
        slot, made = new_slot(), list[Client]()

        async def factory() -> Client:
            if not reports:
                asyncio.get_running_loop().call_soon(slot.reset, context=Context())
                await asyncio.sleep(0)  # the reset comes here, and its callers hear of it later
                raise error
            made.append(Client())
            return made[-1]

        assert await slot.get(factory) is made[0]
        assert [each["exception"] for each in reports] == [error]

    run(main())


@pytest.mark.promise(28)
@pytest.mark.parametrize("fails", ["factory", "close"])
@pytest.mark.parametrize("kind", [OSError, pytest.fail.Exception])
def test_error_of_an_unwanted_build_is_reported(
    run: Run, fails: str, kind: type[BaseException]
) -> None:
    """Nobody waits for it. The loop's exception handler is told whose it is, and what failed.

    So it is for an error that derives from `BaseException`, such as that of `pytest.fail`.
    """
    error = kind(fails)

    def close(_: object) -> None:
        raise error

    async def main() -> None:
        reports = _record_reports()
        slot: aio.SingletonSlot[str] = aio.SingletonSlot(close=close, name="client")
        go_on = asyncio.Event()

        async def factory() -> str:
            await go_on.wait()
            if fails == "factory":
                raise error
            return "client"

        async def other() -> str:
            return "other"

        callers = [asyncio.create_task(slot.get(each)) for each in (factory, other)]
        await at_rest()
        slot.reset()
        callers[0].cancel()
        await at_rest()
        go_on.set()
        await at_rest()
        assert await callers[1] == "other"
        message = {
            "factory": "client: a build failed, and no caller is left to get its error",
            "close": "client: a build was in vain, and to close its instance failed",
        }[fails]
        assert reports == [{"message": message, "exception": error}]

    run(main())


def test_cancelled_close_of_an_unwanted_build_is_no_error(run: Run) -> None:
    """Whoever cancels it wants it to end: nobody is told, and the loop goes on."""

    def close(_: object) -> None:
        raise asyncio.CancelledError

    async def main() -> None:
        reports = _record_reports()
        slot: aio.SingletonSlot[str] = aio.SingletonSlot(close=close)
        go_on = asyncio.Event()

        async def factory() -> str:
            await go_on.wait()
            return "client"

        caller = asyncio.create_task(slot.get(factory))
        await at_rest()
        slot.reset()
        caller.cancel()
        go_on.set()
        await at_rest()
        assert not await slot.aclose()
        assert reports == []

    run(main())


@pytest.mark.promise(10)
def test_finaliser_may_use_the_accessor(run: Run) -> None:
    """A dropped instance's `__del__` finds the slot empty, and no lock held against it."""
    found: list[object] = []

    class Chatty:
        def __del__(self) -> None:
            found.append((slot.peek(), slot.reset()))

    slot: aio.SingletonSlot[Chatty] = aio.SingletonSlot()

    async def factory() -> Chatty:
        return Chatty()

    async def main() -> None:
        await slot.get(factory)
        slot.reset()
        assert found == [(None, False)]

    run(main())


@pytest.mark.promise(9)
@pytest.mark.learned("finaliser-wants-the-lock")
def test_finaliser_or_signal_handler_under_the_lock(run: Run) -> None:
    """The garbage collector and signals run code between any two lines; that may call `reset`."""

    async def main() -> None:
        slot = new_slot()
        await slot.get(connect)
        with guard.lock:
            assert slot.reset()
        assert slot.peek() is None

    run(main())


@pytest.mark.promise(19)
@pytest.mark.parametrize("served", [True, False])
def test_dropped_instance_is_collectable_at_once(run: Run, served: bool) -> None:  # noqa: FBT001 - both ways
    """Even if a task that the factory started, and its context, live on."""

    async def main() -> None:
        stop = asyncio.Event()
        background: list[asyncio.Task[Any]] = []
        made: list[weakref.ref[Client]] = []

        async def factory() -> Client:
            background.append(asyncio.create_task(stop.wait()))
            await at_rest()
            client = Client()
            made.append(weakref.ref(client))
            return client

        slot: aio.SingletonSlot[Client] = aio.SingletonSlot()
        caller = asyncio.create_task(slot.get(factory))
        if served:
            await caller
            assert made[0]() is not None
        else:
            await asyncio.sleep(0)
            caller.cancel()
            await asyncio.wait([caller])
        del caller
        slot.reset()
        while not made:
            await at_rest()
        await at_rest()
        assert made[0]() is None
        stop.set()
        await asyncio.gather(*background)

    gc.disable()
    try:
        run(main())
    finally:
        gc.enable()


@pytest.mark.promise(5, 28)
@pytest.mark.parametrize("scope", ["loop", "process"])
def test_resets_while_others_get(new_loop: NewLoop, scope: Scope) -> None:
    """Two loops get while two threads reset, round by round: each get returns a whole instance."""
    rounds, resets = 50, 5
    slot = new_slot(scope)
    start = Barrier(4)

    async def main() -> int:
        for _ in range(rounds):
            start.wait(LIMIT)  # holds up this thread's loop, which has nothing else to do
            got = await asyncio.gather(*(slot.get(connect) for _ in range(3)))
            assert all(isinstance(each, Client) for each in got)
        return rounds

    def drop() -> int:
        for _ in range(rounds):
            start.wait(LIMIT)
            for _ in range(resets):
                slot.reset()
        return rounds

    def get() -> int:
        return run_on(new_loop, main())

    assert in_threads(get, get, drop, drop) == [rounds] * 4


def test_peek_where_no_loop_runs(run: Run) -> None:
    """With an instance per loop there is none to find; one for all loops is found."""
    per_loop, for_all = new_slot(), new_slot(scope="process")
    run(per_loop.get(connect))
    client = run(for_all.get(connect))
    assert per_loop.peek("none") == "none"
    assert for_all.peek("none") is client
