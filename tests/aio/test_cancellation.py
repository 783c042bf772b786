"""A caller may be cancelled or time out; the build belongs to none of them."""

import asyncio
import gc
from contextvars import ContextVar

import pytest

from plugin_utils import aio
from tests.aio.conftest import Run
from tests.support.loops import at_rest


class Gate:
    """A factory that goes on when it is let, and counts."""

    def __init__(self, error: Exception | None = None) -> None:
        self.begun = asyncio.Event()
        self.open = asyncio.Event()
        self.runs = 0
        self.error = error

    async def __call__(self) -> str:
        """Build when the gate is open."""
        self.runs += 1
        self.begun.set()
        await self.open.wait()
        if self.error is not None:
            raise self.error
        return f"build {self.runs}"


def _slot() -> aio.SingletonSlot[str]:
    return aio.SingletonSlot(name="client")


@pytest.mark.promise(25)
def test_first_caller_is_cancelled(run: Run) -> None:
    """The others still get the instance of the one build."""

    async def main() -> None:
        slot, factory = _slot(), Gate()
        first = asyncio.create_task(slot.get(factory))
        await factory.begun.wait()
        others = [asyncio.create_task(slot.get(factory)) for _ in range(10)]
        await at_rest()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        factory.open.set()
        assert set(await asyncio.gather(*others)) == {"build 1"}

    run(main())


@pytest.mark.promise(25)
def test_every_caller_is_cancelled(run: Run) -> None:
    """The build finishes all the same and is cached; garbage collection does not end it."""

    async def main() -> None:
        slot, factory = _slot(), Gate()
        callers = [asyncio.create_task(slot.get(factory)) for _ in range(10)]
        await factory.begun.wait()
        for caller in callers:
            caller.cancel()
        assert all(
            isinstance(each, asyncio.CancelledError)
            for each in await asyncio.gather(*callers, return_exceptions=True)
        )
        gc.collect()
        factory.open.set()
        await at_rest()
        assert slot.peek() == "build 1"
        assert await slot.get(factory) == "build 1"

    run(main())


@pytest.mark.promise(25)
def test_caller_times_out(run: Run) -> None:
    """`asyncio.timeout` and `wait_for` end one caller's patience and nothing else."""

    async def main() -> None:
        slot, factory = _slot(), Gate()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await slot.get(factory)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(slot.get(factory), 0.001)
        patient = asyncio.create_task(slot.get(factory))
        await factory.begun.wait()
        factory.open.set()
        assert await patient == "build 1"

    run(main())


@pytest.mark.promise(25)
def test_task_group_that_fails_takes_only_its_own_callers(run: Run) -> None:
    """A group cancels its tasks when one fails; the build is none of them."""

    async def main() -> None:
        slot, factory = _slot(), Gate()

        async def fail() -> None:
            await factory.begun.wait()
            raise OSError

        async def call_in_group() -> None:
            async with asyncio.TaskGroup() as group:
                group.create_task(slot.get(factory))
                group.create_task(fail())

        with pytest.raises(ExceptionGroup):
            await call_in_group()
        factory.open.set()
        assert await slot.get(factory) == "build 1"

    run(main())


@pytest.mark.promise(25)
def test_context_of_the_first_caller_does_not_leak(run: Run) -> None:
    """The shared build sees no request's variables, and sets none for its caller."""
    request: ContextVar[str] = ContextVar("request", default="none")

    async def factory() -> str:
        seen = request.get()
        request.set("set by the build")
        return seen

    async def main() -> None:
        request.set("first caller's")
        assert await _slot().get(factory) == "none"
        assert request.get() == "first caller's"

    run(main())


@pytest.mark.promise(25)
def test_failure_that_nobody_awaits_is_reported(run: Run) -> None:
    """The error goes to the loop's exception handler: a caller that timed out never saw it."""
    reports: list[dict[str, object]] = []

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, report: reports.append(report))
        slot, error = _slot(), OSError("refused")
        factory = Gate(error)
        caller = asyncio.create_task(slot.get(factory))
        await factory.begun.wait()
        caller.cancel()
        await at_rest()
        factory.open.set()
        await at_rest()
        assert slot.peek() is None
        assert reports == [
            {
                "message": "client: a build failed, and no caller is left to get its error",
                "exception": error,
            }
        ]

    run(main())


@pytest.mark.promise(25)
@pytest.mark.parametrize("waits", [True, False])
def test_caller_is_cancelled_when_its_build_has_failed(run: Run, waits: bool) -> None:  # noqa: FBT001 - both ways
    """The error is no longer its own: it goes to the loop's exception handler, and only there."""
    reports: list[dict[str, object]] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, report: reports.append(report))
        slot, error = _slot(), OSError("refused")

        async def factory() -> str:
            await at_rest()
            loop.call_soon(callers[0].cancel)  # comes before the callers hear of the failure
            raise error

        callers = [asyncio.create_task(slot.get(factory))]
        if waits:
            callers.append(asyncio.create_task(slot.get(Gate(OSError("another")))))
            await at_rest()
            callers[1].cancel()
        with pytest.raises(asyncio.CancelledError):
            await callers[0]
        await at_rest()
        assert reports == [
            {
                "message": "client: a build failed, and no caller is left to get its error",
                "exception": error,
            }
        ]

    run(main())


@pytest.mark.promise(25)
def test_caller_is_cancelled_when_its_build_has_been_cancelled(run: Run) -> None:
    """A cancellation is no failure to be reported."""
    reports: list[dict[str, object]] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, report: reports.append(report))

        async def factory() -> str:
            await at_rest()
            loop.call_soon(caller.cancel)
            raise asyncio.CancelledError

        caller = asyncio.create_task(_slot().get(factory))
        with pytest.raises(asyncio.CancelledError):
            await caller
        await at_rest()
        assert reports == []

    run(main())


@pytest.mark.promise(25)
@pytest.mark.parametrize("drops", ["nothing", "reset", "aclose"])
def test_caller_is_cancelled_when_its_build_is_done(run: Run, drops: str) -> None:
    """The instance is cached like any other: kept, dropped by `reset`, closed by `aclose`."""

    async def main() -> None:
        closed: list[str] = []
        slot: aio.SingletonSlot[str] = aio.SingletonSlot(close=closed.append)

        async def factory() -> str:
            await at_rest()
            asyncio.get_running_loop().call_soon(caller.cancel)
            return "client"

        caller = asyncio.create_task(slot.get(factory))
        with pytest.raises(asyncio.CancelledError):
            await caller
        assert slot.peek() == "client"
        if drops == "reset":
            assert slot.reset()
        elif drops == "aclose":
            assert await slot.aclose()
        assert slot.peek() == (None if drops != "nothing" else "client")
        assert closed == (["client"] if drops == "aclose" else [])

    run(main())


@pytest.mark.promise(2)
def test_build_is_cancelled_from_outside(run: Run) -> None:
    """The caller that started it sees the cancellation, the next one builds; nobody hangs."""

    async def main() -> None:
        slot, factory = _slot(), Gate()
        first = asyncio.create_task(slot.get(factory))
        await factory.begun.wait()
        second = asyncio.create_task(slot.get(factory))
        await at_rest()
        (build,) = (task for task in asyncio.all_tasks() if task.get_name() == "build of client")
        build.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        factory.open.set()
        assert await second == "build 2"

    run(main())


@pytest.mark.promise(2)
def test_build_is_cancelled_before_its_first_step(run: Run) -> None:
    """Its coroutine never runs then; the caller is told, and the place is free again."""

    async def main() -> None:
        slot, factory = _slot(), Gate()
        caller = asyncio.create_task(slot.get(factory))
        await asyncio.sleep(0)
        (build,) = (task for task in asyncio.all_tasks() if task.get_name() == "build of client")
        build.cancel()
        with pytest.raises(asyncio.CancelledError):
            await caller
        factory.open.set()
        assert (await slot.get(factory)).startswith("build")

    run(main())


@pytest.mark.promise(2)
def test_factory_that_awaits_something_cancelled(run: Run) -> None:
    """Its `CancelledError` reaches the caller, as an await of the factory would; no retry."""

    async def main() -> None:
        cancelled = asyncio.get_running_loop().create_future()
        cancelled.cancel()
        runs = 0

        async def factory() -> str:
            nonlocal runs
            runs += 1
            await cancelled
            raise AssertionError

        with pytest.raises(asyncio.CancelledError):
            await _slot().get(factory)
        assert runs == 1

    run(main())
