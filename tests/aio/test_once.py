"""One build, however many tasks come first; and what a later await costs."""

import asyncio
from collections.abc import Awaitable, Generator
from functools import partial
from threading import Thread
from typing import Any

import pytest

from plugin_utils import aio
from tests.aio.conftest import Run
from tests.support.loops import LIMIT, Scope, at_rest

TASKS = 100


@pytest.mark.promise(24)
@pytest.mark.learned("tasks-race-too")
def test_tasks_that_come_together_share_one_build(run: Run) -> None:
    """A dashboard's widgets load at once and all await the client whose making awaits."""
    built: list[object] = []

    @aio.lazy_singleton
    async def client() -> object:
        await asyncio.sleep(0)
        built.append(object())
        return built[-1]

    async def main() -> None:
        got = await asyncio.gather(*(client() for _ in range(TASKS)))
        assert built == [got[0]]
        assert set(got) == {built[0]}

    run(main())


@pytest.mark.promise(24)
def test_factory_that_never_suspends_is_built_once(run: Run) -> None:
    """An eager task factory may have built before there is anything to wait for."""
    built: list[object] = []

    async def factory() -> object:
        built.append(object())
        return built[-1]

    async def main() -> None:
        slot: aio.SingletonSlot[object] = aio.SingletonSlot()
        got = await asyncio.gather(*(slot.get(factory) for _ in range(TASKS)))
        assert [built[0]] * TASKS == got
        assert len(built) == 1

    run(main())


@pytest.mark.promise(4)
@pytest.mark.parametrize("value", [None, False, 0, ""])
def test_falsy_instances_are_cached(run: Run, value: object) -> None:
    """`None` and its like are instances; `peek` with a default tells them from nothing."""
    runs = 0
    nothing = object()

    @aio.lazy_singleton
    async def accessor() -> object:
        nonlocal runs
        runs += 1
        return value

    async def main() -> None:
        assert accessor.peek(nothing) is nothing
        assert await accessor() is value
        assert await accessor() is value
        assert accessor.peek(nothing) is value
        assert runs == 1

    run(main())


@pytest.mark.promise(24)
@pytest.mark.parametrize("scope", ["loop", "process"])
def test_hit_does_not_suspend(run: Run, scope: Scope) -> None:
    """An await that finds an instance ends at its first step, without a task or a turn."""

    async def factory() -> object:
        return instance

    instance = object()
    accessor = aio.lazy_singleton(scope=scope)(factory)
    slot: aio.SingletonSlot[object] = aio.SingletonSlot(scope=scope)

    async def main() -> None:
        await accessor()
        await slot.get(factory)
        tasks = asyncio.all_tasks()
        for hit in (accessor(), slot.get(factory)):
            with pytest.raises(StopIteration) as stopped:
                hit.send(None)
            assert stopped.value.value is instance
        assert asyncio.all_tasks() == tasks

    run(main())


def test_first_arguments_win(run: Run) -> None:
    """A slot passes arguments to the factory, and ignores those of later callers."""

    async def connect(host: str, port: int) -> tuple[str, int]:
        return host, port

    async def main() -> None:
        slot: aio.SingletonSlot[tuple[str, int]] = aio.SingletonSlot()
        assert await slot.get(connect, "first", 1) == ("first", 1)
        assert await slot.get(connect, "second", 2) == ("first", 1)
        assert slot.peek() == ("first", 1)

    run(main())


class Pool:
    """As some libraries have it: the object itself is awaited to get ready."""

    ready = False

    def __await__(self) -> Generator[Any, None, "Pool"]:
        yield from asyncio.sleep(0).__await__()
        self.ready = True
        return self


def test_factory_may_return_any_awaitable(run: Run) -> None:
    """A slot's factory need not be a coroutine function: what it returns is awaited."""

    async def main() -> None:
        slot: aio.SingletonSlot[Pool] = aio.SingletonSlot()
        pool = await slot.get(Pool)
        assert pool.ready
        assert await slot.get(Pool) is pool

    run(main())


@pytest.mark.promise(16)
def test_factory_that_cannot_be_awaited_is_refused(run: Run) -> None:
    """A slot says which primitive a function that returns no awaitable belongs to."""

    def factory() -> Awaitable[object]:
        return object()  # type: ignore[return-value] # pyright: ignore[reportReturnType] - the fault

    async def main() -> None:
        slot: aio.SingletonSlot[object] = aio.SingletonSlot()
        with pytest.raises(
            TypeError,
            match=r"factory returned .* builtins\.object, which .* plugin_utils\.SingletonSlot",
        ):
            await slot.get(factory)
        assert repr(slot) == "<aio.SingletonSlot 'unnamed': 0 built>"

    run(main())


@pytest.mark.promise(4)
def test_instance_that_is_a_coroutine_is_refused(run: Run) -> None:
    """A forgotten `await` in the factory is an error at once, and nothing is cached."""

    async def inner() -> object:
        return object()

    async def factory() -> object:
        return inner()

    async def main() -> None:
        slot: aio.SingletonSlot[object] = aio.SingletonSlot()
        with pytest.raises(TypeError, match=r"factory returned a coroutine when awaited"):
            await slot.get(factory)
        assert slot.peek() is None

    run(main())


def test_what_is_no_factory_is_refused(run: Run) -> None:
    """A coroutine given for the function that makes it is closed and named in the error."""

    async def connect() -> object:
        return object()

    async def main() -> None:
        slot: aio.SingletonSlot[object] = aio.SingletonSlot()
        for wrong in (connect(), 7):
            get: Any = partial(slot.get, wrong)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] - the fault
            with pytest.raises(TypeError, match=r"builtins\.(coroutine|int)\. Pass the function"):
                await get()

    run(main())


@pytest.mark.learned("factory-under-the-table-lock")
def test_no_lock_is_held_while_a_factory_runs(run: Run) -> None:
    """Another thread can use another slot meanwhile, also where a task's first step runs early."""
    other: aio.SingletonSlot[object] = aio.SingletonSlot()
    stuck: list[bool] = []

    async def factory() -> object:
        thread = Thread(target=other.reset, daemon=True)
        thread.start()
        thread.join(LIMIT / 4)
        stuck.append(thread.is_alive())
        return object()

    async def main() -> None:
        slot: aio.SingletonSlot[object] = aio.SingletonSlot()
        await slot.get(factory)
        assert stuck == [False]

    run(main())


def test_two_slots_build_at_the_same_time(run: Run) -> None:
    """A build waits for no other slot's build: here each needs the other to have begun."""
    begun = {"a": asyncio.Event(), "b": asyncio.Event()}

    async def factory(mine: str, other: str) -> str:
        begun[mine].set()
        await begun[other].wait()
        return mine

    async def main() -> None:
        a: aio.SingletonSlot[str] = aio.SingletonSlot()
        b: aio.SingletonSlot[str] = aio.SingletonSlot()
        async with asyncio.TaskGroup() as group:
            got_a = group.create_task(a.get(factory, "a", "b"))
            got_b = group.create_task(b.get(factory, "b", "a"))
        assert (got_a.result(), got_b.result()) == ("a", "b")

    run(main())


def test_nothing_is_left_of_a_build(run: Run) -> None:
    """Well or badly ended, a build is forgotten but for its instance."""

    async def factory() -> object:
        return object()

    async def broken() -> object:
        raise OSError("refused")

    async def main() -> None:
        slot: aio.SingletonSlot[object] = aio.SingletonSlot()
        with pytest.raises(OSError, match="refused"):
            await slot.get(broken)
        await slot.get(factory)
        await at_rest()
        assert not slot._table._running
        assert [build.loop for build in slot._table.builds.values()] == [None]

    run(main())


def test_builds_task_is_named(run: Run) -> None:
    """Whoever lists the loop's tasks can tell what the build's is for."""

    async def factory() -> str:
        await asyncio.sleep(0)  # a task's first step may run before it has its name
        task = asyncio.current_task()
        assert task is not None
        return task.get_name()

    async def main() -> None:
        slot: aio.SingletonSlot[str] = aio.SingletonSlot(name="client")
        assert await slot.get(factory) == "build of client"

    run(main())
