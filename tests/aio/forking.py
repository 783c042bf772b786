"""What tests/aio/test_fork.py runs, each function in a fresh interpreter of its own.

A process that forks should have no other threads, and pytest's has.
"""

import asyncio
import os
import sys
from collections.abc import Callable
from contextvars import Context
from threading import Event, Thread

from plugin_utils import aio
from plugin_utils.aio._guard import guard
from tests.support.loops import LIMIT


class Client:
    """Says when it is closed or finalised, and by whom."""

    def __init__(self) -> None:
        self.pid = os.getpid()

    async def aclose(self) -> None:
        """Say so."""
        self._say("closed")

    def __del__(self) -> None:
        self._say("finalised")

    def _say(self, what: str) -> None:
        who = "its maker" if os.getpid() == self.pid else "another process"
        print(f"{what} by {who}", flush=True)


async def connect() -> Client:
    """Make a client."""
    await asyncio.sleep(0)
    return Client()


def _fork(child: Callable[[], None]) -> None:
    """Run `child` in a forked child that then exits, and wait for that."""
    if os.fork() == 0:
        child()
        sys.exit(0)
    _, status = os.wait()
    assert os.waitstatus_to_exitcode(status) == 0


def child_builds_its_own() -> None:
    """Fork beside an open loop that has a client: the child's loop gets another one."""
    accessor = aio.lazy_singleton(close=Client.aclose)(connect)

    async def use() -> None:
        assert (await accessor()).pid == os.getpid()
        assert await accessor.aclose()

    def child() -> None:
        assert not accessor.reset()
        asyncio.run(use())

    loop = asyncio.new_event_loop()
    mine = loop.run_until_complete(accessor())
    _fork(child)
    assert loop.run_until_complete(accessor()) is mine
    loop.run_until_complete(accessor.aclose())
    loop.close()


def child_builds_its_own_for_all_loops() -> None:
    """The same for an instance that is bound to no loop."""
    accessor = aio.lazy_singleton(scope="process", close=Client.aclose)(connect)
    asyncio.run(accessor())

    def child() -> None:
        assert accessor.peek() is None
        assert asyncio.run(accessor()).pid == os.getpid()
        assert asyncio.run(accessor.aclose())

    _fork(child)


def child_keeps_the_parents() -> None:
    """With `fork="keep"` the child goes on with it, and never closes it."""
    accessor = aio.lazy_singleton(scope="process", fork="keep", close=Client.aclose)(connect)
    mine = asyncio.run(accessor())

    def child() -> None:
        assert asyncio.run(accessor()) is mine
        assert asyncio.run(accessor.aclose())
        assert asyncio.run(accessor()) is not mine

    _fork(child)


def fork_in_the_middle_of_a_build() -> None:
    """A build of the parent's is neither finished nor unwound in the child."""
    slot: aio.SingletonSlot[Client] = aio.SingletonSlot(scope="process", fork="keep")

    async def slow() -> Client:
        try:
            begun.set()
            await go_on.wait()
            return await connect()
        finally:
            print(f"unwound in {'parent' if os.getpid() == parent else 'child'}", flush=True)

    parent = os.getpid()
    begun, go_on = asyncio.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()
    caller = loop.create_task(slot.get(slow))
    loop.run_until_complete(begun.wait())
    _fork(lambda: print(asyncio.run(slot.get(connect)).pid == os.getpid(), flush=True))
    go_on.set()
    loop.run_until_complete(caller)
    loop.close()


def fork_while_the_lock_is_held() -> None:
    """The thread that held the lock does not exist in the child; the child must not wait for it."""
    slot: aio.SingletonSlot[Client] = aio.SingletonSlot()
    held, done = Event(), Event()

    def hold() -> None:
        with guard.lock:
            held.set()
            done.wait(LIMIT)

    thread = Thread(target=hold)
    thread.start()
    held.wait(LIMIT)
    _fork(lambda: print(asyncio.run(slot.get(connect)).pid == os.getpid(), flush=True))
    done.set()
    thread.join()


def fork_inside_a_factory() -> None:
    """The child uses the accessor whose factory has forked it."""

    @aio.lazy_singleton
    async def forks() -> Client:
        if os.getpid() == parent:
            pid = os.fork()
            if pid == 0:
                print(asyncio.run(forks()).pid == os.getpid(), flush=True)
                os._exit(0)  # not up through the parent's loop
            await asyncio.to_thread(os.waitpid, pid, 0)
        return await connect()

    parent = os.getpid()
    print(asyncio.run(forks()).pid == parent, flush=True)


def fork_inside_a_close() -> None:
    """The child waits for no close of the parent's, which never ends here."""

    async def forks(client: Client) -> None:
        if os.getpid() == parent:
            pid = os.fork()
            if pid == 0:
                # Not as a part of this close: what waits for that does not wait for itself.
                print(Context().run(asyncio.run, accessor.aclose()), flush=True)
                os._exit(0)  # not up through the parent's loop
            await asyncio.to_thread(os.waitpid, pid, 0)
        await client.aclose()

    async def main() -> bool:
        await accessor()
        return await accessor.aclose()

    parent = os.getpid()
    accessor = aio.lazy_singleton(scope="process", close=forks)(connect)
    print(asyncio.run(main()), flush=True)
