"""Where the builds of a slot stand: one place for each running loop, or one place for all."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from inspect import isawaitable

from plugin_utils._gate import register, set_aside
from plugin_utils._slot import UNSET
from plugin_utils._typing import TYPE_CHECKING, Generic, T
from plugin_utils.aio._build import Build
from plugin_utils.aio._factory import call_factory
from plugin_utils.aio._guard import guard
from plugin_utils.aio._work import Work, current_work, lineage
from plugin_utils.errors import BuildDeadlockError, RecursiveBuildError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable
    from typing import Any, TypeAlias

    from plugin_utils._typing import Ts

    Place: TypeAlias = asyncio.AbstractEventLoop | None

__all__ = ("Table",)

# What is raised because somebody wants the task, or the program, to end.
_NOT_ERRORS = (asyncio.CancelledError, KeyboardInterrupt, SystemExit)


class Table(Generic[T]):
    """The builds of one slot, by place.

    A place is filled only while it is empty, so of all that come first one starts a build. It is
    emptied to let others try: by a failure, by a reset, and when its loop is gone. A build that
    finds itself out of its place when it is done is not wanted any more, and closes its instance.
    """

    # Invariant: `builds` is never rebound; readers look at nothing else. Whoever empties a place,
    # or publishes in one, holds the guard.
    # Invariant: `_running` holds every build whose task is not over, in its place or not, and
    # `_closing` every close that is not over.
    __slots__ = ("__weakref__", "_close", "_closing", "_keep", "_running", "builds", "place")

    def __init__(self, *, per_loop: bool, close: Callable[[T], object] | None, keep: bool) -> None:
        self.builds: dict[Place, Build[T]] = {}
        # Returns the caller's place. A dict by loop keeps loops alive, and a weak one would too:
        # what a loop's instance refers to leads back to its loop. So closed ones are swept out.
        self.place: Callable[[], Place] = asyncio.get_running_loop if per_loop else _everywhere
        self._close = close
        self._keep = keep
        self._running: set[Build[T]] = set()
        self._closing: set[Work] = set()
        register(self)

    def renew(self) -> None:
        """Start over in a forked child. Called by the fork hook; not for you to call."""
        kept = {
            place: build
            for place, build in self.builds.items()
            if self._keep and hasattr(build, "instance")
        }
        for build in self.builds.values():
            build.inherited = True
        # The loops too: one that is finalised here would meddle with the parent's selector.
        left = (item for item in self.builds.items() if item[0] not in kept)
        set_aside([self._running, self._closing, *left])
        self._running, self._closing = set(), set()
        self.builds.clear()
        self.builds.update(kept)

    def join(
        self, place: Place, name: str, factory: Callable[[*Ts], Awaitable[T]], args: tuple[*Ts]
    ) -> tuple[Build[T], asyncio.Future[None] | None, bool]:
        """Return the build to wait for, what to wait with, and whether it was started here."""
        self._sweep()
        fresh: Build[T] = Build(name)
        try:
            with guard.lock:
                build = self.builds.setdefault(place, fresh)
                if build is fresh:
                    self._running.add(build)
            # Before `start`, inside of which an eager task factory runs the factory's first step:
            # that must see who waits for it.
            woken = build.enlist()
            if build is fresh:
                task = build.start(self._run(place, build, factory, args))
                task.add_done_callback(partial(self._end, build))
        except BaseException:  # no task will do it
            self.drop(lambda _, build: build is fresh)
            self._running.discard(fresh)
            fresh.end()
            raise
        return build, woken, build is fresh

    async def _run(
        self,
        place: Place,
        build: Build[T],
        factory: Callable[[*Ts], Awaitable[T]],
        args: tuple[*Ts],
    ) -> None:
        """Build and publish, or close what nobody wants any more. Runs in a task of its own."""
        try:
            try:
                instance = await call_factory(factory, args)
            finally:
                build.running = False
        except BaseException as error:
            self._fail(build, error)
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise  # it stops the loop, as from any task
            return
        if self._publish(place, build, instance):
            return
        try:
            await self.dispose(build, instance)
        except BaseException as error:
            message = f"{build.name}: a build was in vain, and to close its instance failed"
            _report(asyncio.get_running_loop(), message, error)
            if isinstance(error, _NOT_ERRORS):
                raise

    def _publish(self, place: Place, build: Build[T], instance: T) -> bool:
        with guard.lock:
            # Set, then look: a finaliser that calls `reset` can run between any two lines.
            build.instance = instance
            published = self.builds.get(place) is build
            if not published:
                build.take()
        build.settle()
        return published

    def _fail(self, build: Build[T], error: BaseException) -> None:
        """Leave the error to the caller that started the build, if it still waits for that."""
        if build.attended and not build.settled:
            build.error = error
        elif not build.ended:  # not: unwound with its loop
            _report_failure(asyncio.get_running_loop(), build.name, error)
        self.drop(lambda _, other: other is build)
        build.settle()

    def leave(self, build: Build[T], loop: asyncio.AbstractEventLoop) -> None:
        """Note that the caller that started the build waits no more. It may have failed already."""
        build.attended = False
        error = build.take_error()
        if error is not None:
            _report_failure(loop, build.name, error)

    def _end(self, build: Build[T], task: asyncio.Task[None]) -> None:
        self._running.discard(build)
        if not build.settled:  # cancelled before its first step
            self._fail(build, asyncio.CancelledError(f"the build of {build.name} was cancelled"))
        build.end()
        if not task.cancelled():
            task.exception()  # seen: it stopped the loop

    def dispose(self, build: Build[T], instance: T) -> Coroutine[Any, Any, None]:
        """Return what closes an instance that nobody can get any more; it is under way from now."""
        closing = Work(build.name, within=current_work(), source=build)
        self._closing.add(closing)
        return self._dispose(closing, build, instance)

    async def _dispose(self, closing: Work, build: Build[T], instance: T) -> None:
        closing.enter()
        try:
            if self._close is not None and not build.inherited:
                made = self._close(instance)
                if isawaitable(made):
                    await made
        finally:
            self._closing.discard(closing)
            closing.end()

    def drop(
        self, doomed: Callable[[Place, Build[T]], bool]
    ) -> list[tuple[Build[T], tuple[T] | None]]:
        """Empty the places of all doomed builds, and send their waiters to look again.

        Returns:
            Each of these builds, and its instance in a tuple, or `None` if it is still building.
            The guard is released by then: to drop the last reference can run a finaliser.
        """
        with guard.lock:
            dropped = [
                (build, build.take())
                for place, build in list(self.builds.items())
                if doomed(place, build) and self.builds.pop(place, None) is build
            ]
        for build, _ in dropped:
            build.settle()
        return dropped

    def reset(self, expected: object = UNSET) -> bool:
        """Do what `SingletonSlot.reset` says. `plugin_utils.testing.reset_all` calls it here."""
        self.refuse_reentry("reset")
        dropped = self.drop(
            lambda _, build: expected is UNSET or getattr(build, "instance", UNSET) is expected
        )
        return bool(dropped)

    async def aclose(self) -> bool:
        """Do what `SingletonSlot.aclose` says."""
        self.refuse_reentry("aclose")
        place = self.place()
        present = self.builds.get(place)
        if present is not None:
            present.may_be_awaited()  # before anything is dropped
        found, closings, under_way = self._vacate(place)
        try:
            for closing in closings:
                await closing
        except Exception:
            await _all_ended(under_way)
            raise
        await _all_ended(under_way)
        return found

    def _vacate(self, place: Place) -> tuple[bool, list[Coroutine[Any, Any, None]], list[Work]]:
        """Empty a place.

        Returns:
            Whether it held anything, what closes its instance when awaited, and what is under way
            for it besides: builds, all of them unwanted now, and closes.
        """
        with guard.lock:  # whoever finds the place empty finds what is under way, too
            dropped = self.drop(lambda at, _: at is place)
            works = [*self._running, *self._closing]
            closings = [self.dispose(build, *taken) for build, taken in dropped if taken]
        under_way = [work for work in works if place is None or work.loop is place]
        return bool(dropped), closings, under_way

    def _sweep(self) -> None:
        """Let go of what belongs to loops that are gone, so that nothing keeps those alive."""
        self.drop(_is_dead)
        for build in list(self._running):
            if build.is_lost():
                self._running.discard(build)
                build.abandon()

    def refuse_reentry(self, doing: str) -> None:
        """Raise `RecursiveBuildError` if the caller is part of a build of this table."""
        for work in lineage():
            if work in self._running:
                raise _recursive(work.name, doing)


async def _all_ended(works: Iterable[Work]) -> None:
    """Return when each of these is over, except those that wait for the caller themselves."""
    for work in works:
        with suppress(BuildDeadlockError):  # a `close` that comes back is one of these
            await work.wait(work.enlist(until_ended=True))


def _everywhere() -> None:
    """Return the one place of a slot that serves all loops."""


def _is_dead(place: Place, build: Build[T]) -> bool:
    if place is None:
        return not build.settled and build.is_stranded()
    return place.is_closed()


def _report_failure(loop: asyncio.AbstractEventLoop, name: str, error: BaseException) -> None:
    message = f"{name}: a build failed, and no caller is left to get its error"
    _report(loop, message, error)


def _report(loop: asyncio.AbstractEventLoop, message: str, error: BaseException) -> None:
    """Tell the loop's exception handler, as asyncio does: not of a cancellation or an interrupt."""
    if not isinstance(error, _NOT_ERRORS):
        loop.call_exception_handler({"message": message, "exception": error})


def _recursive(name: str, doing: str) -> RecursiveBuildError:
    error = RecursiveBuildError(
        f"{name}: {doing}() was called by the factory that builds it, or by a task it started. "
        "Going on would hang, or build a second instance. Let the factory take what it needs as "
        "an argument, and use the accessor only after it has returned."
    )
    error.name = name
    return error
