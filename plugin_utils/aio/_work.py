"""What is under way on a loop, a build or a close: who waits for it, and who must not.

A `Work` is awaited by tasks of any loop, in any thread. None of them awaits its task, so none of
them can cancel it; each waits for a future of its own.

Two kinds of hang become errors here and in the slot:

- a factory comes back to its own slot (`RecursiveBuildError`);
- factories wait for each other's slots in a circle (`BuildDeadlockError`).

Which work a piece of code belongs to is told by a context variable. Child tasks inherit it, and
so does `asyncio.to_thread`. The graph of waits needs little bookkeeping: each waiting future is
filed with the work on whose behalf it waits, for exactly as long as it waits.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from contextvars import ContextVar
from itertools import groupby

from plugin_utils._typing import TYPE_CHECKING
from plugin_utils.aio._guard import guard
from plugin_utils.errors import BuildDeadlockError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ("Work", "current_work", "lineage")

# How long, in seconds, a wait for another loop's work goes without a look at that loop. A loop
# that is closed or stopped in the middle of a build tells nobody.
_PATROL = 0.1


class Work:
    """A build or a close, from its begin to its end.

    It knows neither its slot nor its table: the contexts of tasks that were started in it keep it
    alive, and must not keep anything else alive.
    """

    # Invariant: `settled` and `ended` go from False to True, once; `ended` comes last.
    __slots__ = (
        "_patient",
        "_waits",
        "ended",
        "loop",
        "name",
        "running",
        "settled",
        "source",
        "within",
    )

    def __init__(
        self, name: str, *, within: Work | None = None, source: Work | None = None
    ) -> None:
        self.name = name
        # What called for a close. A build is within nothing: whoever waits for it may leave.
        self.within = within
        # The build of what is closed. One that was in vain ends after this.
        self.source = source
        # Let go of at the end, so that a closed loop is not kept alive.
        self.loop: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        self.running = True  # the factory, or the `close`, has not returned yet
        self.settled = False  # the outcome is known: nothing more to wait for, except the end
        self.ended = False
        # Who waits: each waiter's future, and the work on whose behalf it waits.
        self._waits: dict[asyncio.Future[None], Work | None] = {}
        # Those of them that wait for the end.
        self._patient: set[asyncio.Future[None]] = set()

    def enter(self) -> None:
        """Count what runs in this context as part of this work, for as long as that runs."""
        _part_of.set(self)

    def settle(self) -> None:
        """Wake whoever waits: the outcome is known. Who waits for the end waits on."""
        with guard.lock:
            hasty = [woken for woken in self._waits if woken not in self._patient]
            for woken in hasty:
                del self._waits[woken]
            self.settled = True
        _wake(hasty)

    def end(self) -> None:
        """Wake whoever waits for the end, and let go of the loop."""
        with guard.lock:
            waits, self._waits, self._patient = self._waits, {}, set()
            self.settled = self.ended = True
        self.running = False
        self.loop = None
        _wake(waits)

    def is_stranded(self) -> bool:
        """Return whether the loop that should go on with this has stopped or is closed."""
        loop = self.loop
        return loop is not None and not loop.is_running()

    def is_lost(self) -> bool:
        """Return whether that loop is closed: it cannot be run again."""
        loop = self.loop
        return loop is not None and loop.is_closed()

    def may_be_awaited(self) -> Work | None:
        """Return the work that the caller is part of, if any.

        Raises:
            BuildDeadlockError: This work waits for that one, at once or through others.
        """
        waiter = current_work()
        if waiter is not None:
            with guard.lock:
                _refuse_deadlock(waiter, self)
        return waiter

    def enlist(self, *, until_ended: bool = False) -> asyncio.Future[None] | None:
        """Begin to wait: return what `wait` takes, or `None` if there is nothing to wait for.

        Args:
            until_ended: Wait until all is over, and not only until the outcome is known.

        Raises:
            BuildDeadlockError: As for `may_be_awaited`.
        """
        with guard.lock:
            if self.ended or (self.settled and not until_ended):
                return None
            waiter = self.may_be_awaited()
            woken = asyncio.get_running_loop().create_future()
            self._waits[woken] = waiter
            if until_ended:
                self._patient.add(woken)
            return woken

    async def wait(self, woken: asyncio.Future[None] | None) -> None:
        """Return when what was enlisted for has come, or the work's loop has stopped."""
        if woken is None:
            return
        own = self.loop is woken.get_loop()
        try:
            while not woken.done() and not self.is_stranded():
                await asyncio.wait([woken], timeout=None if own else _PATROL)
        finally:
            self._waits.pop(woken, None)
            self._patient.discard(woken)

    def waiters(self) -> list[Work]:
        """Return what cannot go on before this does."""
        callers = (self.within, *self._waits.values())
        waiters = [work for work in callers if work is not None and work.running]
        return waiters if self.source is None else [*waiters, self.source]


# The innermost work that the running code is part of. It may be over.
_part_of: ContextVar[Work | None] = ContextVar("plugin_utils.aio.part_of", default=None)


def lineage() -> Iterator[Work]:
    """Yield what the caller is part of, directly or through a child task, from the inside out."""
    work = _part_of.get()
    while work is not None:
        if work.running:
            yield work
        work = work.within


def current_work() -> Work | None:
    """Return the innermost work that the caller is part of, or `None`."""
    return next(lineage(), None)


def _wake(waits: Iterable[asyncio.Future[None]]) -> None:
    for woken in waits:
        with suppress(RuntimeError):  # that loop is closed: nobody waits there any more
            woken.get_loop().call_soon_threadsafe(woken.set_result, None)


def _refuse_deadlock(waiter: Work, awaited: Work) -> None:
    """Raise if `awaited` waits for `waiter`, at once or through others. The guard is held."""
    # From `waiter` back along the waits: each work, and the one that it waits for.
    onward = {waiter: waiter}
    found = [waiter]
    for work in found:
        for behind in work.waiters():
            if behind not in onward:
                onward[behind] = work
                found.append(behind)
    if awaited in onward:
        circle = [waiter, awaited]
        while circle[-1] is not waiter:
            circle.append(onward[circle[-1]])
        # A build, and the close of what it made, go by one name.
        raise _deadlock([name for name, _ in groupby(work.name for work in circle)])


def _deadlock(names: list[str]) -> BuildDeadlockError:
    error = BuildDeadlockError(
        f"circular singletons: {' -> '.join(names)}. Each of these factories awaits the next; all "
        "would hang. Let only one of them await the other accessor."
    )
    error.cycle = tuple(names)
    return error
