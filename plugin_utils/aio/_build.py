"""One run of a coroutine factory, and what came of it."""

from __future__ import annotations

import asyncio
from contextvars import Context

from plugin_utils._typing import TYPE_CHECKING, Generic, T, cast
from plugin_utils.aio._guard import guard
from plugin_utils.aio._work import Work

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

__all__ = ("Build",)


class Build(Work, Generic[T]):
    """One run of a factory, and from then on the place of the instance.

    It is settled when it is published, has failed or is not wanted any more. It ends with its
    task, and so after the closing of an instance that is not wanted.
    """

    # Invariant: `instance` is absent until the build is published, and again once it is dropped.
    # Invariant: `error` is there only from a failure until its caller has taken it, or has left.
    __slots__ = ("attended", "error", "inherited", "instance", "task", "work")

    instance: T

    def __init__(self, name: str) -> None:
        super().__init__(name)
        # Let go of at the end, as the loop is.
        self.work: Coroutine[Any, Any, None] | None = None
        self.task: asyncio.Task[None] | None = None  # its loop would hold it weakly
        self.attended = True  # whoever started it still waits for it, and gets its error
        self.error: BaseException | None = None
        self.inherited = False  # built by another process: not ours to close

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run `work` in a task of its own, in a context that holds nothing but this build."""
        context = Context()
        context.run(self.enter)
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

    def end(self) -> None:
        """End as any work does, and let go of the task."""
        super().end()
        self.work = self.task = None

    def abandon(self) -> None:
        """End a build whose loop is closed: unwind its factory, since no loop will do it."""
        work = self.work
        self.end()
        if work is not None:
            work.close()

    def take_error(self) -> BaseException | None:
        """Return the error of the factory, if there is one. A second call returns `None`."""
        error, self.error = self.error, None
        return error

    def fail(self) -> None:
        """Raise the error of the factory, if there is one. A second call raises nothing."""
        error = self.take_error()
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
