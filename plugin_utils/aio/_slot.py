"""`SingletonSlot` for coroutine factories: an instance for each running loop, or one for all."""

from __future__ import annotations

from asyncio import get_running_loop

from plugin_utils._factory import check_options, qualified_name
from plugin_utils._slot import UNSET
from plugin_utils._typing import TYPE_CHECKING, Generic, T, overload
from plugin_utils.aio._factory import check_callable, check_scope
from plugin_utils.aio._table import Table

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Literal, NoReturn

    from plugin_utils._typing import D, Ts

__all__ = ("SingletonSlot",)


class SingletonSlot(Generic[T]):
    """Holds at most one instance per running event loop, or one per process.

    Use it where the factory needs an argument, or where the instance is reset from elsewhere. The
    first factory wins: later calls of `get` return its instance and ignore theirs.

    Concurrency: when many tasks call `get` first, one factory runs, in a task of its own, and all
    get its instance. It sees none of the first caller's context variables. Cancelling a caller
    never cancels the build: the others still get the instance, and if none is left the build
    finishes and is cached. A call that finds an instance makes no task and takes no lock. Every
    method may be called from any thread.

    Failure: when the factory raises, nothing is cached and the caller that started it gets the
    exception. The tasks that waited try again, one at a time, each with its own factory. An error
    that no caller is left to get goes to the loop's exception handler.

    Re-entrancy: a factory that awaits its own slot, itself or in a child task, gets
    `RecursiveBuildError`; factories that await each other's slots get `BuildDeadlockError`.

    Loops: with `scope="loop"`, what belongs to a closed loop is dropped, never closed, at the next
    call that finds no instance. With `scope="process"`, a build whose loop has been closed or
    stopped is taken over by the next caller; if it ever finishes, its instance is closed.

    Fork: a forked child builds its own instance. The parent's stays alive in the child, unused.

    Args:
        scope: `"loop"`: an instance for each running loop, which is what a client with
            connections needs. `"process"`: one instance for all loops and threads, for objects
            that are bound to no loop.
        close: Called once with each instance that `aclose` drops, after the slot is empty, and
            with each that a build makes in vain. What it returns is awaited if it can be, so it
            may be a function or a coroutine function. Never called with what `reset` drops, at
            exit, or in another process than the one that built the instance.
        fork: `"rebuild"`, as said above, or `"keep"`: a forked child goes on with the parent's
            instance. For data that is only read, and for `scope="process"` only.
        name: Names the slot in errors. A slot without one goes by the name of its factory.

    Raises:
        TypeError: `close` is not callable, or `name` is no string.
        ValueError: `scope` or `fork` is none of theirs, or an instance per loop is to be kept.

    Example:
        ```python
        import asyncio

        from plugin_utils import aio

        async def connect(url: str) -> list[str]:
            await asyncio.sleep(0)
            return [url]

        slot: aio.SingletonSlot[list[str]] = aio.SingletonSlot(name="connection")

        async def main() -> None:
            first = await slot.get(connect, "ws://127.0.0.1:8000")
            assert await slot.get(connect, "ws://127.0.0.1:9000") is first  # first config wins

        asyncio.run(main())
        ```
    """

    __slots__ = ("__weakref__", "_name", "_table")

    def __init__(
        self,
        *,
        scope: Literal["loop", "process"] = "loop",
        close: Callable[[T], object] | None = None,
        fork: Literal["rebuild", "keep"] = "rebuild",
        name: str | None = None,
    ) -> None:
        check_options(close, fork, "retry", name)
        check_scope(scope, fork)
        self._name = name
        self._table: Table[T] = Table(per_loop=scope == "loop", close=close, keep=fork == "keep")

    async def get(self, factory: Callable[[*Ts], Awaitable[T]], *args: *Ts) -> T:
        """Return the instance, built by `await factory(*args)` if there is none.

        Args:
            factory: Builds the instance: a coroutine function, or anything whose result can be
                awaited. Called at most once for each time the slot is empty.
            args: Passed to the factory. Ignored when there is an instance.

        Raises:
            RecursiveBuildError: The slot's own factory came back here.
            BuildDeadlockError: Factories await each other's slots.
            TypeError: `factory` is not callable, its result cannot be awaited, or the awaited
                result is a coroutine.
            RuntimeError: No asyncio loop is running.
            BaseException: Whatever the factory raises, `asyncio.CancelledError` included. Nothing
                is cached then.
        """
        table = self._table
        place = table.place()
        try:
            return table.builds[place].instance
        except (KeyError, AttributeError):
            pass
        check_callable(factory)
        table.refuse_reentry("get")
        loop = get_running_loop()
        while True:
            name = self._name or qualified_name(factory)
            build, woken, started = table.join(place, name, factory, args)
            try:
                await build.wait(woken)
            except BaseException:
                if started:
                    table.leave(build, loop)
                raise
            if started:
                build.fail()
            try:
                return table.builds[place].instance
            except (KeyError, AttributeError):
                pass  # it failed for somebody else, or was reset: look again

    @overload
    def peek(self) -> T | None: ...
    @overload
    def peek(self, default: D) -> T | D: ...
    def peek(self, default: D | None = None) -> T | D | None:
        """Return the instance, or `default` if there is none. Never builds and never waits.

        With `scope="loop"` that is the running loop's instance, and `default` where no loop runs.

        Args:
            default: Returned when there is no instance. Pass a marker of your own where `None` is
                an instance.
        """
        try:
            return self._table.builds[self._table.place()].instance
        except (KeyError, AttributeError, RuntimeError):
            return default

    def reset(self, expected: object = UNSET) -> bool:
        """Drop every loop's instance, close none, and return whether there was one to drop.

        Never waits, and may be called where no loop runs. A build that is running counts as
        dropped: it is not published, its instance is closed on its own loop, and whoever waited
        for it builds anew. After `reset` has returned, no instance is served whose factory
        started before it was called.

        Args:
            expected: Drop only what is this very object. Two tasks that both find a client stale
                then drop it once, and never the new one that a third has built. Running builds
                are left alone.

        Raises:
            RecursiveBuildError: Called from inside the slot's own factory.
        """
        return self._table.reset(expected)

    async def aclose(self) -> bool:
        """Drop the running loop's instance, close it, and return whether there was one.

        With `scope="process"`, drop and close the one instance. A build that is running is not
        published; this waits until it has closed its instance. Whoever waited for it builds anew.

        Of this loop, with `scope="process"` of all loops, it also waits for what was dropped
        earlier: for each build that still runs, and for each `close`. So when it has returned,
        none of them is cut short by the loop's end. It does not wait for what waits for its own
        caller: a `close` may call it.

        Raises:
            RecursiveBuildError: Called from inside the slot's own factory.
            BuildDeadlockError: The running build waits for something the caller builds or closes.
                Nothing is dropped then.
            RuntimeError: No asyncio loop is running.
            Exception: Whatever `close` raises. The slot is empty nevertheless. What it raises for
                the instance of an unpublished build goes to the loop's exception handler.
        """
        return await self._table.aclose()

    def __repr__(self) -> str:
        built = sum(hasattr(build, "instance") for build in list(self._table.builds.values()))
        return f"<aio.{type(self).__name__} {self._name or 'unnamed'!r}: {built} built>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        msg = (
            f"cannot copy or pickle {self!r}: a copy would build a second instance. "
            "Keep the slot in a module and import it where you need it."
        )
        raise TypeError(msg)
