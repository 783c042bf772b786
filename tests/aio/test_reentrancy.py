"""Factories that need what they build: an error, where a plain lock or task would hang."""

import asyncio
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from itertools import pairwise
from typing import Any, cast

import pytest

from plugin_utils import BuildDeadlockError, RecursiveBuildError, aio
from plugin_utils.testing import reset_all
from tests.aio.conftest import Run
from tests.support.loops import at_rest

Slot = aio.SingletonSlot[object]


async def _in_itself(call: Callable[[], Any]) -> object:
    made = call()
    return await cast("Awaitable[object]", made) if isawaitable(made) else made


async def _in_child_task(call: Callable[[], Any]) -> object:
    return await asyncio.create_task(_in_itself(call))


async def _in_task_group(call: Callable[[], Any]) -> object:
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(_in_child_task(call))
    except* RecursiveBuildError as caught:
        raise caught.exceptions[0] from None
    return None


async def _in_thread(call: Callable[[], Any]) -> object:
    return await asyncio.to_thread(lambda: asyncio.run(_in_itself(call)))


@pytest.mark.promise(30)
@pytest.mark.parametrize("way", [_in_itself, _in_child_task, _in_task_group, _in_thread])
@pytest.mark.parametrize("doing", ["get", "reset", "aclose"])
def test_factory_comes_back_to_its_own_slot(
    run: Run, way: Callable[[Callable[[], Any]], Awaitable[object]], doing: str
) -> None:
    """At once, directly or through a child: an error that names the slot and what was called."""
    slot = Slot(name="client")
    calls: dict[str, Callable[[], Any]] = {
        "get": lambda: slot.get(factory),
        "reset": slot.reset,
        "aclose": slot.aclose,
    }

    async def factory() -> object:
        return await way(calls[doing])

    async def main() -> None:
        with pytest.raises(RecursiveBuildError, match=rf"^client: {doing}\(\) was") as caught:
            await slot.get(factory)
        assert caught.value.name == "client"
        assert slot.peek() is None

    run(main())


@pytest.mark.promise(30)
def test_factory_resets_everything(run: Run) -> None:
    """What is for tests between two builds is refused inside one, as a reset is."""

    async def factory() -> object:
        reset_all()
        return object()

    async def main() -> None:
        with pytest.raises(ExceptionGroup) as caught:
            await Slot(name="client").get(factory)
        assert caught.group_contains(RecursiveBuildError, match="^client: reset")

    run(main())


@pytest.mark.promise(30)
def test_factory_of_an_unwanted_build_comes_back(run: Run) -> None:
    """A reset has taken its place, and still it must not wait for what it would start."""
    slot = Slot(name="client")

    async def main() -> None:
        go_on, refused = asyncio.Event(), asyncio.Event()

        async def factory() -> object:
            if not go_on.is_set():
                await go_on.wait()
                with pytest.raises(RecursiveBuildError):
                    await slot.get(factory)
                refused.set()
            return object()

        caller = asyncio.create_task(slot.get(factory))
        await at_rest()
        go_on.set()
        slot.reset()
        await refused.wait()
        assert await caller is slot.peek()

    run(main())


@pytest.mark.promise(30)
def test_accessor_is_named_by_its_factory(run: Run) -> None:
    """The error of an accessor names the function that was decorated."""

    @aio.lazy_singleton
    async def client() -> object:
        return await client()

    async def main() -> None:
        with pytest.raises(RecursiveBuildError, match=r"test_reentrancy\..*\.client: get\(\)"):
            await client()

    run(main())


@pytest.mark.promise(30)
def test_child_task_that_outlives_the_build_may_use_the_accessor(run: Run) -> None:
    """A client's own background task is part of the build only while that runs."""
    got: asyncio.Queue[object]

    @aio.lazy_singleton
    async def client() -> object:
        background.append(asyncio.create_task(refresh()))
        return object()

    background: list[asyncio.Task[None]] = []

    async def refresh() -> None:
        await at_rest()
        got.put_nowait(await client())
        assert client.reset()
        got.put_nowait(await client())

    async def main() -> None:
        nonlocal got
        got = asyncio.Queue()
        first = await client()
        assert await got.get() is first
        assert await got.get() is not first
        await asyncio.gather(*background)

    run(main())


@pytest.mark.promise(31)
@pytest.mark.parametrize("length", [2, 3, 5])
@pytest.mark.parametrize("raced", [False, True])
def test_factories_in_a_circle(run: Run, length: int, raced: bool) -> None:  # noqa: FBT001 - both ways
    """One of the factories gets an error that names the circle; every caller gets an answer."""
    slots = [Slot(name=f"slot {number}") for number in range(length)]

    async def main() -> None:
        begun = [asyncio.Event() for _ in slots]
        runs: list[int] = []

        async def factory(number: int) -> object:
            runs.append(number)
            begun[number].set()
            if raced:
                await asyncio.gather(*(each.wait() for each in begun))
            after = (number + 1) % length
            return await slots[after].get(factory, after)

        callers = range(length if raced else 1)
        got = await asyncio.gather(
            *(slots[number].get(factory, number) for number in callers), return_exceptions=True
        )
        assert all(isinstance(each, BuildDeadlockError) for each in got), got
        await at_rest()
        assert raced or runs == [*range(length)]  # one caller: nobody tries again
        cycle = next(each.cycle for each in got if isinstance(each, BuildDeadlockError))
        assert len(cycle) == length + 1
        assert set(cycle) == {f"slot {number}" for number in range(length)}
        numbers = [int(name.removeprefix("slot ")) for name in cycle]
        assert all((here + 1) % length == there for here, there in pairwise(numbers))

    run(main())


@pytest.mark.promise(31)
def test_circle_through_aclose(run: Run) -> None:
    """To wait for the end of a build that waits for the caller's own is a circle too."""
    a, b = Slot(name="a"), Slot(name="b")

    async def main() -> None:
        async def build_a() -> object:
            return await b.get(build_b)

        async def build_b() -> object:
            await at_rest()
            return await a.aclose()

        with pytest.raises(BuildDeadlockError, match="circular singletons: b -> a -> b"):
            await a.get(build_a)
        assert await b.get(build_b) is False

    run(main())


@pytest.mark.promise(31)
def test_shared_dependency_is_no_circle(run: Run) -> None:
    """Slots that all need all those after them build without a report."""
    names = "abcde"
    needs = {name: names[names.index(name) + 1 :] for name in names}
    slots = {name: Slot(name=name) for name in names}

    async def factory(name: str) -> object:
        await at_rest()
        return [
            name,
            *await asyncio.gather(*(slots[each].get(factory, each) for each in needs[name])),
        ]

    async def main() -> None:
        got = await asyncio.gather(*(slots[name].get(factory, name) for name in names * 3))
        assert got[:5] == got[5:10] == got[10:]
        assert all(slots[name].peek() is each for name, each in zip(names, got, strict=False))

    run(main())


@pytest.mark.promise(31)
def test_wait_that_is_over_is_no_part_of_a_circle(run: Run) -> None:
    """A's caller of B has left: B may then need A, although A is still building."""
    a, b = Slot(name="a"), Slot(name="b")

    async def main() -> None:
        gone, go_on = asyncio.Event(), asyncio.Event()

        async def build_a() -> object:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0):
                    await b.get(build_b)
            gone.set()
            await go_on.wait()
            return "a"

        async def build_b() -> object:
            await gone.wait()
            go_on.set()
            return ["b", await a.get(build_a)]

        assert await a.get(build_a) == "a"
        assert await b.get(build_b) == ["b", "a"]

    run(main())


@pytest.mark.promise(31)
def test_task_that_is_left_over_is_no_part_of_a_circle(run: Run) -> None:
    """A's own task still waits for C when A's factory is done; X may wait for A, and C for X."""

    async def main() -> None:
        a_go, a_close, c_go = asyncio.Event(), asyncio.Event(), asyncio.Event()
        left_over: list[asyncio.Task[object]] = []

        async def build_a() -> object:
            left_over.append(asyncio.create_task(c.get(build_c)))
            await a_go.wait()
            return "a"

        async def close_a(_: object) -> None:
            await a_close.wait()

        async def build_c() -> object:
            await c_go.wait()
            return ["c", await x.get(a.aclose)]

        a, c, x = Slot(name="a", close=close_a), Slot(name="c"), Slot(name="x")
        caller = asyncio.create_task(a.get(build_a))
        await at_rest()
        caller.cancel()
        closing = asyncio.create_task(x.get(a.aclose))
        await at_rest()
        a_go.set()
        await at_rest()
        c_go.set()
        await at_rest()
        assert not closing.done()
        a_close.set()
        assert await closing is True
        assert await asyncio.gather(*left_over) == [["c", True]]

    run(main())
