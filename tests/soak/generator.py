"""Threads and event loops that do anything, in an order that a seed decides."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random

from plugin_utils import aio
from tests.soak.ledger import BuildFailedError, Connection, Ledger
from tests.soak.targets import FAILING_BUILDS, Form

__all__ = ("run_threads", "work_on_loops")


def run_threads(workers: Sequence[Callable[[], None]], ledger: Ledger) -> None:
    """Run each worker in a thread of its own. What one raises is a violation."""
    with ThreadPoolExecutor(len(workers)) as pool:
        for future in [pool.submit(worker) for worker in workers]:
            error = future.exception()
            if error is not None:
                ledger.violation(f"raised {error!r}")


def work(forms: Sequence[Form], ledger: Ledger, random: Random, end: float) -> None:
    """Do one operation after another on one form after another."""
    while time.monotonic() < end:
        form = random.choice(forms)
        operation = random.choices(OPERATIONS, WEIGHTS)[0]
        try:
            operation(form, ledger, random)
        except BuildFailedError:
            ledger.count("failed builds")
        ledger.count(operation.__name__.strip("_"))


def _get(form: Form, ledger: Ledger, _random: Random) -> None:
    ledger.check(form.get(), form.label)


def _lease(form: Form, ledger: Ledger, random: Random) -> None:
    with form.lease() as instance:
        ledger.check(instance, form.label)
        for _ in range(random.randrange(3)):
            if isinstance(instance, Connection):
                instance.use()


def _peek(form: Form, ledger: Ledger, _random: Random) -> None:
    found = form.peek()
    if found is not None:
        ledger.check(found, form.label)


def _reset(form: Form, ledger: Ledger, _random: Random) -> None:
    ledger.count("dropped", form.reset())


def _replace(form: Form, ledger: Ledger, _random: Random) -> None:
    seen = form.peek()
    if seen is None:
        return
    ledger.count("dropped", form.reset(seen))
    if form.peek() is seen:
        ledger.violation("reset(expected=) has left its instance")


OPERATIONS = (_get, _lease, _peek, _reset, _replace)
WEIGHTS = (60, 20, 10, 5, 5)


def work_on_loops(ledger: Ledger, random: Random, end: float) -> None:
    """Run one short-lived event loop after another, with tasks that share a connection."""
    while time.monotonic() < end:
        asyncio.run(_session(ledger, random))


async def _session(ledger: Ledger, random: Random) -> None:
    label = asyncio.get_running_loop()
    slot = _loop_slot

    async def factory() -> Connection:
        with ledger.building(label):
            await asyncio.sleep(0)
            if random.random() < FAILING_BUILDS:
                raise BuildFailedError
            return Connection(label, ledger)

    async def task() -> None:
        for _ in range(20):
            try:
                found = await slot.get(factory)
            except BuildFailedError:
                ledger.count("failed builds")
                continue
            ledger.check(found, label)
            if random.random() < 0.05:
                ledger.count("dropped", await slot.aclose())
            await asyncio.sleep(0)
        ledger.count("awaited", 20)

    await asyncio.gather(*(task() for _ in range(4)))
    ledger.count("dropped", await slot.aclose())


_loop_slot: aio.SingletonSlot[Connection] = aio.SingletonSlot(close=Connection.close)
