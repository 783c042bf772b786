"""Event loops of every kind that the coroutine primitives must work on, each with a time limit."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, Literal, TypeVar

__all__ = ("LIMIT", "LOOPS", "Scope", "at_rest", "happened", "in_threads", "run_on")

T = TypeVar("T")

Scope = Literal["loop", "process"]

LIMIT = 20.0
"""Seconds that anything in a test may take. Reached only if the test fails."""


def _debug_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    loop.set_debug(enabled=True)
    loop.slow_callback_duration = LIMIT  # a slow machine is no finding
    return loop


def _eager_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    loop.set_task_factory(vars(asyncio)["eager_task_factory"])
    return loop


LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "plain": asyncio.new_event_loop,
    "debug": _debug_loop,
}
"""What makes a loop, by the name of its kind."""

if hasattr(asyncio, "eager_task_factory"):  # new in Python 3.12
    LOOPS["eager"] = _eager_loop


def run_on(
    loop_factory: Callable[[], asyncio.AbstractEventLoop], main: Coroutine[Any, Any, T]
) -> T:
    """Return what `main` returns, run as by `asyncio.run` on a new loop, within the limit."""

    async def limited() -> T:
        async with asyncio.timeout(LIMIT):
            return await main

    with asyncio.Runner(loop_factory=loop_factory) as runner:
        return runner.run(limited())


def in_threads(*calls: Callable[[], T]) -> list[T]:
    """Return what each call returns, each in a thread of its own, within the limit."""
    with ThreadPoolExecutor(len(calls)) as pool:
        futures = [pool.submit(call) for call in calls]
        return [future.result(timeout=LIMIT) for future in futures]


async def happened(event: Event) -> None:
    """Wait for another thread's event without blocking the loop."""
    assert await asyncio.to_thread(event.wait, LIMIT)


async def at_rest() -> None:
    """Return when every task has gone as far as it can: it is done, or waits for what is to come.

    Ready tasks run in the order in which they became ready, so a fixed number of the loop's turns
    is enough for the few steps that a task of these tests has.
    """
    for _ in range(50):
        await asyncio.sleep(0)
