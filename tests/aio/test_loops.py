"""Loops that come and go, and loops that run at the same time in several threads."""

import asyncio
import gc
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import Any, cast

import pytest

from plugin_utils import BuildDeadlockError, aio
from plugin_utils.aio import _build, _work
from tests.aio.conftest import Run
from tests.support.loops import LIMIT, Scope, at_rest, happened, in_threads, run_on
from tests.support.waiting import wait_until

NewLoop = Callable[[], asyncio.AbstractEventLoop]


class Client:
    """Bound to the loop that it is made on, as a client with connections is."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._answers = asyncio.Queue[str]()
        self.closed_on: asyncio.AbstractEventLoop | None = None

    async def ask(self) -> str:
        """Wait for an answer, which a queue of another loop refuses."""
        self.loop.call_soon(self._answers.put_nowait, "answer")
        return await self._answers.get()

    async def aclose(self) -> None:
        """Say which loop closed it."""
        self.closed_on = asyncio.get_running_loop()


async def connect() -> Client:
    """Make a client in several steps."""
    await at_rest()
    return Client()


@pytest.mark.promise(26)
@pytest.mark.learned("client-of-another-loop")
def test_loop_after_loop_builds_its_own(run: Run) -> None:
    """`asyncio.run` again and again: each run can use what it gets."""
    client = aio.lazy_singleton(connect)

    async def main() -> Client:
        assert await (await client()).ask() == "answer"
        return await client()

    assert len({run(main()) for _ in range(5)}) == 5


@pytest.mark.promise(27)
@pytest.mark.learned("client-of-another-loop")
def test_loops_in_threads_have_an_instance_each(new_loop: NewLoop) -> None:
    """Each request has its own thread and loop; a client shared by them would fail in use."""
    client = aio.lazy_singleton(connect)
    begun = [Event() for _ in range(3)]

    def request(number: int) -> Client:
        async def main() -> Client:
            begun[number].set()
            for each in begun:
                await happened(each)
            mine = await client()
            assert await mine.ask() == "answer"
            assert client.peek() is mine
            return mine

        return run_on(new_loop, main())

    made = in_threads(*(lambda number=number: request(number) for number in range(3)))
    assert len({id(each) for each in made}) == 3


@pytest.mark.promise(26)
def test_loop_that_is_shut_down_in_the_middle_of_a_build(run: Run) -> None:
    """`asyncio.run` cancels the build with all other tasks; the next run builds its own."""
    runs = 0

    @aio.lazy_singleton
    async def client() -> int:
        nonlocal runs
        runs += 1
        if runs == 1:
            begun.set()
            await asyncio.Event().wait()
        return runs

    async def leave() -> None:
        callers.extend(asyncio.create_task(client()) for _ in range(2))
        await begun.wait()

    callers: list[asyncio.Task[int]] = []
    begun = asyncio.Event()
    run(leave())
    assert all(caller.cancelled() for caller in callers)
    assert run(client()) == 2


def _leave_after(
    loop: asyncio.AbstractEventLoop, turns: int, call: Coroutine[Any, Any, object]
) -> None:
    """Run a call for so many turns of the loop, and close that with nothing cancelled."""
    caller = loop.create_task(call)
    # Of a test's own task asyncio is right to complain; it would drown a complaint about a build.
    cast("Any", caller)._log_destroy_pending = False

    def stop_after(more: int) -> None:
        if more:
            loop.call_soon(stop_after, more - 1)
        else:
            loop.stop()

    loop.call_soon(stop_after, turns)
    loop.run_forever()
    loop.close()


async def never() -> str:
    """Begin a build that ends only with its loop."""
    try:
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0)  # what a context manager's exit does, too late here
    raise AssertionError


@pytest.mark.promise(26, 28)
@pytest.mark.parametrize("scope", ["loop", "process"])
@pytest.mark.parametrize("turns", range(4))
def test_loop_that_is_closed_in_the_middle_of_a_build(
    new_loop: NewLoop, turns: int, scope: Scope
) -> None:
    """At whatever step: the next loop builds its own, without complaint, and the old one goes."""
    slot: aio.SingletonSlot[Client] = aio.SingletonSlot(scope=scope)
    loop = new_loop()
    _leave_after(loop, turns, slot.get(cast("Any", never)))
    gone = weakref.ref(loop)
    del loop
    assert isinstance(run_on(new_loop, slot.get(connect)), Client)
    gc.collect()
    assert gone() is None


@pytest.mark.promise(26)
def test_build_that_has_no_task_yet_can_be_abandoned(run: Run) -> None:
    """There is nothing to unwind then; whoever waits for it is woken."""

    async def main() -> None:
        build = _build.Build[object]("client")
        woken = build.enlist()
        build.abandon()
        await build.wait(woken)
        too_late = build.enlist()
        assert too_late is None
        await build.wait(too_late)

    run(main())


@pytest.mark.promise(28)
def test_closed_loop_is_not_kept_alive(run: Run) -> None:
    """What belongs to a closed loop goes at the next build, closed by nobody."""
    closed: list[Client] = []
    client = aio.lazy_singleton(close=closed.append)(connect)
    first = run(client())
    loop, instance = weakref.ref(first.loop), weakref.ref(first)
    del first
    run(client())
    gc.collect()
    assert loop() is None
    assert instance() is None
    assert closed == []


@pytest.mark.promise(27)
def test_loop_that_built_for_all_is_not_kept_alive(run: Run) -> None:
    """With `scope="process"` the instance outlives the loop that happened to build it."""
    loops: list[weakref.ref[asyncio.AbstractEventLoop]] = []

    @aio.lazy_singleton(scope="process")
    async def settings() -> dict[str, str]:
        await at_rest()
        loops.append(weakref.ref(asyncio.get_running_loop()))
        return {}

    first = run(settings())
    assert run(settings()) is first
    assert settings.peek() is first
    gc.collect()
    assert loops[0]() is None
    assert len(loops) == 1


class Slow:
    """A factory for all loops, whose runs can be watched and let go from other threads."""

    def __init__(self, fails: int = 0) -> None:
        self.begun = [Event(), Event()]
        self.open = [Event(), Event()]
        self.runs = 0
        self.fails = fails
        self.closed: list[tuple[str, asyncio.AbstractEventLoop]] = []

    async def __call__(self) -> str:
        """Build when let."""
        number = self.runs
        self.runs += 1
        self.begun[number].set()
        await happened(self.open[number])
        if number < self.fails:
            msg = f"try {number}"
            raise OSError(msg)
        return f"build {number}"

    async def close(self, instance: str) -> None:
        """Note what is closed, and where."""
        self.closed.append((instance, asyncio.get_running_loop()))


def _waiting(slot: aio.SingletonSlot[str]) -> int:
    return sum(len(build._waits) for build in list(slot._table.builds.values()))


@pytest.fixture
def _no_patrol(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a waiter notice nothing by itself within the time of a test."""
    monkeypatch.setattr(_work, "_PATROL", 100 * LIMIT)


@pytest.mark.promise(27)
@pytest.mark.learned("lock-made-on-first-use")
@pytest.mark.usefixtures("_no_patrol")
@pytest.mark.parametrize("fails", [0, 1])
def test_one_build_for_all_loops_and_threads(new_loop: NewLoop, fails: int) -> None:
    """A waiter on another loop is woken, and after a failure tries itself."""
    factory = Slow(fails)
    slot: aio.SingletonSlot[str] = aio.SingletonSlot(scope="process")

    def first() -> str:
        try:
            return run_on(new_loop, slot.get(factory))
        except OSError as error:
            return str(error)

    def second() -> str:
        assert factory.begun[0].wait(LIMIT)
        return run_on(new_loop, slot.get(factory))

    def let_go() -> str:
        wait_until(lambda: _waiting(slot) == 2)
        factory.open[0].set()
        factory.open[1].set()
        return ""

    got = in_threads(first, second, let_go)
    assert got[:2] == (["try 0", "build 1"] if fails else ["build 0", "build 0"])
    assert factory.runs == 1 + fails


@pytest.mark.promise(27)
@pytest.mark.usefixtures("_no_patrol")
def test_waiters_loop_is_closed_first(new_loop: NewLoop) -> None:
    """The build finishes although one of those to be woken is gone with its loop."""
    factory = Slow()
    slot: aio.SingletonSlot[str] = aio.SingletonSlot(scope="process")

    def leave() -> str:
        assert factory.begun[0].wait(LIMIT)
        _leave_after(new_loop(), 2, slot.get(factory))
        factory.open[0].set()
        return "left"

    assert in_threads(lambda: run_on(new_loop, slot.get(factory)), leave) == ["build 0", "left"]


@pytest.mark.promise(27)
@pytest.mark.usefixtures("_no_patrol")
def test_loop_that_is_shut_down_hands_its_build_over(new_loop: NewLoop) -> None:
    """`asyncio.run` cancels the build at its end; a waiter elsewhere is woken and builds."""
    factory = Slow()
    slot: aio.SingletonSlot[str] = aio.SingletonSlot(scope="process")

    def leave() -> str:
        async def main() -> str:
            caller = asyncio.create_task(slot.get(factory))
            await asyncio.to_thread(wait_until, lambda: _waiting(slot) == 2)
            factory.open[0].set()  # for the thread that waits for it: the loop's end awaits that
            factory.open[1].set()
            return "left" if not caller.done() else "stayed"

        return run_on(new_loop, main())

    def wait() -> str:
        assert factory.begun[0].wait(LIMIT)
        return run_on(new_loop, slot.get(factory))

    assert in_threads(leave, wait) == ["left", "build 1"]


@pytest.mark.promise(27)
@pytest.mark.learned("loser-left-open")
@pytest.mark.parametrize("waits", [True, False])
def test_build_of_a_stopped_loop_is_taken_over(new_loop: NewLoop, waits: bool) -> None:  # noqa: FBT001 - both ways
    """By who waited and by who comes later. The late result is closed on its own loop."""
    factory = Slow()
    slot: aio.SingletonSlot[str] = aio.SingletonSlot(scope="process", close=factory.close)
    with ThreadPoolExecutor(1) as pool, asyncio.Runner(loop_factory=new_loop) as stopped:
        loop = stopped.get_loop()
        caller = loop.create_task(slot.get(factory))
        loop.run_until_complete(happened(factory.begun[0]))

        async def let_other_wait() -> Future[str]:
            other = pool.submit(run_on, new_loop, slot.get(factory))
            await asyncio.to_thread(wait_until, lambda: _waiting(slot) == 2)
            return other

        if waits:  # from the first moment on for a loop that runs: else it takes over too early
            other = loop.run_until_complete(let_other_wait())
        else:
            other = pool.submit(run_on, new_loop, slot.get(factory))
        factory.open[1].set()
        assert other.result(LIMIT) == "build 1"
        factory.open[0].set()
        assert loop.run_until_complete(caller) == "build 1"
        loop.run_until_complete(at_rest())
        loop.run_until_complete(asyncio.to_thread(wait_until, lambda: factory.closed))
        assert factory.closed == [("build 0", loop)]
        assert slot.peek() == "build 1"


@pytest.mark.promise(27)
def test_loop_that_stops_right_after_its_build(new_loop: NewLoop) -> None:
    """The instance is published and stays, also for whoever looked just before and sweeps now."""
    slot: aio.SingletonSlot[str] = aio.SingletonSlot(scope="process")

    async def factory() -> str:
        await at_rest()
        asyncio.get_running_loop().stop()
        return "settings"

    with asyncio.Runner(loop_factory=new_loop) as stopped:
        caller = stopped.get_loop().create_task(slot.get(factory))
        stopped.get_loop().run_forever()
        slot._table._sweep()
        assert slot.peek() == "settings"
        assert stopped.get_loop().run_until_complete(caller) == "settings"


@pytest.mark.promise(31)
def test_circle_across_loops(new_loop: NewLoop) -> None:
    """Factories on two loops, in two threads, that wait for each other: nobody hangs."""
    slots = [aio.SingletonSlot[object](scope="process", name=name) for name in "ab"]
    begun = [Event(), Event()]

    async def factory(mine: int) -> object:
        begun[mine].set()
        await happened(begun[1 - mine])
        return await slots[1 - mine].get(factory, 1 - mine)

    def call(mine: int) -> object:
        try:
            return run_on(new_loop, slots[mine].get(factory, mine))
        except BuildDeadlockError as error:
            return error.cycle

    cycles = in_threads(lambda: call(0), lambda: call(1))
    assert set(cycles) <= {("a", "b", "a"), ("b", "a", "b")}
