"""A factory that fails: who gets the error, and what happens next."""

import asyncio
import gc
import traceback
import weakref
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context
from typing import Any, cast

import pytest

from plugin_utils import aio
from tests.aio.conftest import Run
from tests.support.loops import at_rest

CALLERS = 10


@pytest.mark.promise(2)
def test_tasks_retry_one_at_a_time(run: Run) -> None:
    """Each caller sees the error of its own try, and never are there two tries at once."""

    async def main() -> None:
        slot: aio.SingletonSlot[object] = aio.SingletonSlot()
        at_once = 0

        async def call(number: int) -> None:
            async def factory() -> object:
                nonlocal at_once
                at_once += 1
                assert at_once == 1
                await at_rest()
                at_once -= 1
                msg = f"try of {number}"
                raise OSError(msg)

            with pytest.raises(OSError, match=rf"^try of {number}$"):
                await slot.get(factory)

        await asyncio.gather(*(call(number) for number in range(CALLERS)))
        assert slot.peek() is None

    run(main())


@pytest.mark.promise(2)
@pytest.mark.learned("done-while-it-waited")
def test_waiters_get_what_the_second_try_builds(run: Run) -> None:
    """One failure costs one caller its instance; the rest share the next build."""

    async def main() -> None:
        slot: aio.SingletonSlot[int] = aio.SingletonSlot()
        runs = 0

        async def factory() -> int:
            nonlocal runs
            runs += 1
            await at_rest()
            if runs == 1:
                raise OSError("refused")
            return runs

        got = await asyncio.gather(
            *(slot.get(factory) for _ in range(CALLERS)), return_exceptions=True
        )
        assert isinstance(got[0], OSError)
        assert got[1:] == [2] * (CALLERS - 1)

    run(main())


@pytest.mark.promise(2)
def test_traceback_reaches_the_factory(run: Run) -> None:
    """The caller's traceback ends at the line of the factory that raised."""

    async def factory() -> object:
        raise OSError("refused")

    async def main() -> None:
        slot: aio.SingletonSlot[object] = aio.SingletonSlot()
        with pytest.raises(OSError, match="refused") as caught:
            await slot.get(factory)
        assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "factory"

    run(main())


class RefusedError(Exception):
    """Unlike the built-in errors it can be referred to weakly."""


@pytest.mark.promise(2)
def test_error_is_not_kept(run: Run) -> None:
    """Nothing of the library refers to an error once its caller has dropped it."""

    async def factory() -> object:
        raise RefusedError

    async def main() -> None:
        slot: aio.SingletonSlot[object] = aio.SingletonSlot()
        caught: list[weakref.ref[RefusedError]] = []
        try:
            await slot.get(factory)
        except RefusedError as error:
            caught.append(weakref.ref(error))
        await at_rest()
        assert [each() for each in caught] == [None]

    gc.disable()
    try:
        run(main())
    finally:
        gc.enable()


@pytest.mark.promise(3)
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_interrupt_in_a_factory_stops_the_loop(run: Run, error: type[BaseException]) -> None:
    """It goes the way it goes from any task; nothing is cached, and the next loop builds."""
    interrupted = True

    @aio.lazy_singleton
    async def client() -> str:
        await asyncio.sleep(0)
        if interrupted:
            raise error
        return "client"

    async def main() -> None:
        await asyncio.gather(client(), client())

    with pytest.raises(error):
        run(main())
    interrupted = False
    assert run(client()) == "client"


@pytest.mark.promise(3)
def test_interrupt_reaches_the_caller_of_a_loop_that_goes_on(
    new_loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    """Whoever catches the interrupt outside and runs the loop again finds the caller told."""

    async def factory() -> object:
        await asyncio.sleep(0)
        raise SystemExit

    slot: aio.SingletonSlot[object] = aio.SingletonSlot()
    with asyncio.Runner(loop_factory=new_loop) as runner:
        caller = runner.get_loop().create_task(slot.get(factory))
        for _ in range(2):
            with pytest.raises(SystemExit):
                runner.get_loop().run_until_complete(caller)
    assert slot.peek() is None


@pytest.mark.promise(3)
@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_task_factory_that_fails(error: type[BaseException]) -> None:
    """If no task can be made for a build, its caller is told and the place is free again."""
    broken = True

    def task_factory(
        loop: asyncio.AbstractEventLoop,
        work: Coroutine[Any, Any, Any] | Generator[Any, None, Any],
        *,
        name: str | None = None,
        context: Context | None = None,
    ) -> asyncio.Task[Any]:
        if broken and context is not None:
            raise error
        coroutine = cast("Coroutine[Any, Any, Any]", work)
        return asyncio.Task(coroutine, loop=loop, name=name, context=context)

    async def factory() -> str:
        return "client"

    async def main() -> None:
        nonlocal broken
        asyncio.get_running_loop().set_task_factory(task_factory)
        slot: aio.SingletonSlot[str] = aio.SingletonSlot()
        with pytest.raises(error):
            await slot.get(factory)
        broken = False
        assert await slot.get(factory) == "client"

    asyncio.run(main())
