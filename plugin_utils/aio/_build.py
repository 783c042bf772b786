"""One run of a coroutine factory: who waits for it, who must not, and what came of it.

A `Build` is awaited by tasks of any loop, in any thread. None of them awaits its task, so none of
them can cancel it; each waits for a future of its own.

Two kinds of hang become errors here and in the slot:

- a factory comes back to its own slot (`RecursiveBuildError`);
- factories wait for each other's slots in a circle (`BuildDeadlockError`).

Which build a piece of code belongs to is told by a context variable. Child tasks inherit it, and
so does `asyncio.to_thread`. The graph of waits needs no extra bookkeeping: each waiting future is
filed with the build on whose behalf it waits, for exactly as long as it waits.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from contextvars import Context, ContextVar

from plugin_utils._typing import TYPE_CHECKING, Generic, T, cast
from plugin_utils.aio._guard import guard
from plugin_utils.errors import BuildDeadlockError

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable
    from typing import Any

__all__ = ("Build", "current_build")

# How long, in seconds, a wait for another loop's build goes without a look at that loop. A loop
# that is closed or stopped in the middle of a build tells nobody.
_PATROL = 0.1


class Build(Generic[T]):
    """One run of a factory, and from then on the place of the instance.

    It knows neither its slot nor its table: the contexts of tasks that the factory started keep
    it alive, and must not keep anything else alive.
    """

    # Invariant: `instance` is absent until the build is published, and again once it is dropped.
    # Invariant: `settled` and `ended` go from False to True, once; `ended` comes last.
    __slots__ = (
        "_waits",
        "attended",
        "ended",
        "error",
        "inherited",
        "instance",
        "loop",
        "name",
        "running",
        "settled",
        "task",
        "work",
    )

    instance: T

    def __init__(self, name: str) -> None:
        self.name = name
        # These are let go of when the build has ended, so that a closed loop is not kept alive.
        self.loop: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        self.work: Coroutine[Any, Any, None] | None = None
        self.task: asyncio.Task[None] | None = None  # its loop would hold it weakly
        self.running = True  # the factory has not returned yet
        self.settled = False  # published, failed or discarded: nothing more to wait for
        self.ended = False  # the task is over, and so is the closing of a discarded instance
        self.attended = True  # whoever started it still waits for it, and gets its error
        self.error: BaseException | None = None
        self.inherited = False  # built by another process: not ours to close
        # Who waits: each waiter's future, and the build on whose behalf it waits.
        self._waits: dict[asyncio.Future[None], Build[Any] | None] = {}

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run `work` in a task of its own, in a context that holds nothing but this build."""
        context = Context()
        context.run(_building.set, self)
        loop = asyncio.get_running_loop()
        try:
            # An eager task factory runs the first step of `work` right here.
            task = loop.create_task(work, name=f"build of {self.name}", context=context)
        except BaseException:
            work.close()
            raise
        # A loop that is closed in the middle of a build has lost it, and the next loop builds its
        # own. That is nothing to warn callers about who never saw this task.
        cast("Any", task)._log_destroy_pending = False  # noqa: SLF001 - as asyncio does for its own
        self.work, self.task = work, task
        return task

    def settle(self) -> None:
        """Wake whoever waits: the outcome is known. Who waits for the end waits on."""
        with guard.lock:
            waits = {} if self.settled else self._leave()
            self.settled = True
        _wake(waits)

    def end(self) -> None:
        """Wake whoever waits for the end, and let go of the loop."""
        with guard.lock:
            waits = self._leave()
            self.settled = self.ended = True
        self.running = False
        self.loop = self.work = self.task = None
        _wake(waits)

    def abandon(self) -> None:
        """End a build whose loop is closed: unwind its factory, since no loop will do it."""
        work = self.work
        self.end()
        if work is not None:
            work.close()

    def fail(self) -> None:
        """Raise the error of the factory, if there is one. A second call raises nothing."""
        error, self.error = self.error, None
        try:
            if error is not None:
                raise error
        finally:
            del error  # its traceback refers to this frame

    def take(self) -> tuple[T] | None:
        """Remove the instance and return it in a tuple, or `None` if there is none."""
        with guard.lock:
            try:
                taken = (self.instance,)
            except AttributeError:
                return None
            del self.instance
            return taken

    def is_stranded(self) -> bool:
        """Return whether the loop that should run this build has stopped or is closed."""
        loop = self.loop
        return loop is not None and not loop.is_running()

    def is_lost(self) -> bool:
        """Return whether that loop is closed: it cannot be run again."""
        loop = self.loop
        return loop is not None and loop.is_closed()

    def may_be_awaited(self) -> Build[Any] | None:
        """Return the build that the caller is part of, if any.

        Raises:
            BuildDeadlockError: This build waits for that one, at once or through others.
        """
        waiter = current_build()
        if waiter is not None:
            with guard.lock:
                _refuse_deadlock(waiter, self)
        return waiter

    def enlist(self, *, until_ended: bool = False) -> asyncio.Future[None] | None:
        """Begin to wait: return what `wait` takes, or `None` if there is nothing to wait for.

        Args:
            until_ended: Wait until the task is over, and not only until the outcome is known.

        Raises:
            BuildDeadlockError: As for `may_be_awaited`.
        """
        with guard.lock:
            if self.ended or (self.settled and not until_ended):
                return None
            waiter = self.may_be_awaited()
            woken = asyncio.get_running_loop().create_future()
            self._waits[woken] = waiter
            return woken

    async def wait(self, woken: asyncio.Future[None] | None) -> None:
        """Return when what was enlisted for has come, or the build's loop has stopped."""
        if woken is None:
            return
        own = self.loop is woken.get_loop()
        try:
            while not woken.done() and not self.is_stranded():
                await asyncio.wait([woken], timeout=None if own else _PATROL)
        finally:
            self._waits.pop(woken, None)

    def waiters(self) -> list[Build[Any]]:
        """Return the builds whose factories wait for this one."""
        return [build for build in list(self._waits.values()) if build and build.running]

    def _leave(self) -> dict[asyncio.Future[None], Build[Any] | None]:
        waits, self._waits = self._waits, {}
        return waits


# The build that the running code is part of.
_building: ContextVar[Build[Any] | None] = ContextVar("plugin_utils.aio.building", default=None)


def current_build() -> Build[Any] | None:
    """Return the build whose factory called this, directly or through a child task, or `None`."""
    build = _building.get()
    return build if build is not None and build.running else None


def _wake(waits: Iterable[asyncio.Future[None]]) -> None:
    for woken in waits:
        with suppress(RuntimeError):  # that loop is closed: nobody waits there any more
            woken.get_loop().call_soon_threadsafe(woken.set_result, None)


def _refuse_deadlock(waiter: Build[Any], awaited: Build[Any]) -> None:
    """Raise if `awaited` waits for `waiter`, at once or through others. The guard is held."""
    # From `waiter` back along the waits: each build, and the one that it waits for.
    onward = {waiter: waiter}
    found = [waiter]
    for build in found:
        for behind in build.waiters():
            if behind not in onward:
                onward[behind] = build
                found.append(behind)
    if awaited in onward:
        circle = [waiter, awaited]
        while circle[-1] is not waiter:
            circle.append(onward[circle[-1]])
        raise _deadlock([build.name for build in circle])


def _deadlock(names: list[str]) -> BuildDeadlockError:
    error = BuildDeadlockError(
        f"circular singletons: {' -> '.join(names)}. Each of these factories awaits the next; all "
        "would hang. Let only one of them await the other accessor."
    )
    error.cycle = tuple(names)
    return error
