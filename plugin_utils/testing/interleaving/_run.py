"""Runs one schedule at a time on real threads, of which only one is ever running.

Every thread has a gate. Before a step that matters, the running thread asks the search who goes
next. If it is another, it opens that one's gate and waits at its own.
"""

from __future__ import annotations

import _thread
import sys
import traceback
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import FrameType
from typing import Final, Self

from plugin_utils.testing.interleaving._errors import ExplorerError
from plugin_utils.testing.interleaving._races import Step
from plugin_utils.testing.interleaving._record import Action, Outcome, action
from plugin_utils.testing.interleaving._search import Search
from plugin_utils.testing.interleaving._touch import EVERYTHING, NOTHING, Touch

__all__ = ("Run", "current_run")

_new_lock: Final = _thread.allocate_lock  # the real one, also while it is replaced
_PATIENCE: Final = 20.0  # seconds for one schedule: it takes milliseconds unless a thread hangs


class _Abandoned(BaseException):
    """Unwinds a thread whose schedule is over, where it would have to wait for ever."""


class _Worker:
    """A thread, used again for each schedule. It runs only while its gate has been opened for it.

    Invariant: all workers but one wait at their gates, or are about to.
    """

    def __init__(self, index: int) -> None:
        self.index = index
        self.gate = _new_lock()
        self.gate.acquire()
        self.function: Callable[[], object] | None = None
        self.idle()

    def idle(self) -> None:
        """Forget the last schedule."""
        self.pending = Step(NOTHING)
        self.place = ""  # where it waits for its turn
        self.stuck = ""  # the same, if that turn can never come
        self.watched = False
        self.done = True
        self.abandoned = False
        self.value: object = None
        self.error: BaseException | None = None


class Run:
    """Runs the schedules that `search` asks for."""

    def __init__(self) -> None:
        self.search = Search()
        self.files: Collection[str] = ()  # of the code that is watched
        self.hidden: Collection[str] = ()  # of the code that no listing shows
        # Makes the context in which a thread's code is watched.
        self.watched: Callable[[], AbstractContextManager[None]] = nullcontext
        # Told of what a thread is about to run, and by which frame.
        self.entering: Callable[[FrameType, Callable[[], object]], None] = _nothing
        # Filled if there is one: a schedule that is replayed is recorded.
        self.record: list[Action] | None = None
        self._workers: list[_Worker] = []
        self._by_thread: dict[int, _Worker] = {}
        self._main = _new_lock()  # the main thread's gate
        self._main.acquire()
        self._starting = False
        self._refusal: ExplorerError | None = None

    def __enter__(self) -> Self:
        _current.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _current.remove(self)
        for worker in self._workers:
            worker.function = None
            worker.gate.release()

    def once(self, functions: Sequence[Callable[[], object]]) -> Outcome | None:
        """Run the next schedule of the search; return None if it turned out to be redundant."""
        self.search.start()
        self._refusal = None
        self._set_off(functions)
        if first := self._next(None):
            first.gate.release()
            self._await_threads()
        if self._refusal:
            raise self._refusal
        if self.search.redundant:
            return None
        workers = self._workers[: len(functions)]
        return Outcome(
            [worker.value for worker in workers],
            [worker.error for worker in workers],
            [worker.stuck for worker in workers],
            [worker.index for worker in workers if not worker.watched],
        )

    def reach(self, frame: FrameType, touch: Touch) -> None:
        """Let the search decide who goes next. Called by a thread before it touches something."""
        worker = self._by_thread.get(_thread.get_ident())
        if worker is None or worker.done or worker.abandoned or touch is NOTHING:
            return
        worker.watched |= frame.f_code.co_filename in self.files
        matters = self.search.matters(worker.index, (id(frame.f_code), frame.f_lasti), touch)
        if matters:
            self._pause(worker, Step(touch), frame)
        verb = "writes" if touch.write else "reads"
        self._note(worker, frame, Step(touch, verb), matters=matters)

    def turn(self, frame: FrameType, step: Step) -> bool:
        """Wait for the turn of a step that is taken through the explorer's own functions.

        Returns:
            Whether the calling thread is one of the schedule's.
        """
        worker = self._by_thread.get(_thread.get_ident())
        if worker is None or worker.done:
            return False
        if worker.abandoned:
            if not step.ready():
                raise _Abandoned
            return True
        worker.watched = True
        place = (id(frame.f_code), frame.f_lasti, step.verb)
        matters = self.search.matters(worker.index, place, step.touch)
        if matters or step.waits:
            self._pause(worker, step, frame)
        self._note(worker, frame, step, matters=matters)
        return True

    def go_on(self, frame: FrameType) -> None:
        """Take what code that is not watched does next for something that may touch anything."""
        if frame.f_code.co_filename not in self.files:
            self.turn(frame, Step(EVERYTHING))

    def _note(self, worker: _Worker, frame: FrameType, step: Step, *, matters: bool) -> None:
        if self.record is not None and frame.f_code.co_filename != __file__:
            done = action(worker.index, frame, step, matters=matters, hidden=self.hidden)
            self.record.append(done)

    def _set_off(self, functions: Sequence[Callable[[], object]]) -> None:
        """Take every thread to the first of its steps that matters."""
        while len(self._workers) < len(functions):
            worker = _Worker(len(self._workers))
            self._workers.append(worker)
            _thread.start_new_thread(self._work, (worker,))
        self._starting = True
        for worker, function in zip(self._workers, functions, strict=False):
            worker.idle()
            worker.function = function
            worker.done = False
            worker.gate.release()
            self._await_threads()
        self._starting = False

    def _await_threads(self) -> None:
        if not self._main.acquire(timeout=_PATIENCE):
            raise self._hang()

    def _work(self, worker: _Worker) -> None:
        self._by_thread[_thread.get_ident()] = worker
        while worker.gate.acquire() and worker.function:
            try:
                with self.watched():
                    self.entering(sys._getframe(), worker.function)
                    worker.value = worker.function()
            except _Abandoned:
                pass
            except BaseException as error:  # noqa: BLE001 - the model's check judges it
                worker.error = error
            worker.done = True
            self._hand_over(worker)

    def _pause(self, worker: _Worker, step: Step, frame: FrameType) -> None:
        worker.pending = step
        worker.place = f"{frame.f_code.co_name}, line {frame.f_lineno}"
        self._hand_over(worker)
        # What it was about to do can be to let go of a lock: it goes on while it can.
        if worker.abandoned and not step.ready():
            raise _Abandoned

    def _hand_over(self, worker: _Worker) -> None:
        """Let the next thread go, and wait for the turn of this one, unless it has ended."""
        following = self._next(worker)
        if following is worker:
            return
        has_ended = worker.done  # once a gate is open, another thread can give this one new work
        (following.gate if following else self._main).release()
        if not has_ended:
            worker.gate.acquire()

    def _next(self, worker: _Worker | None) -> _Worker | None:
        """Return who goes next: None for the main thread, when all have ended or must start."""
        if self._starting:
            return None
        live = [one for one in self._workers if not one.done]
        enabled = [one.index for one in live if one.pending.ready()]
        chosen: int | None = None
        if not live or live[0].abandoned:
            pass
        elif not enabled:
            for one in live:
                one.stuck = one.place
        else:
            try:
                chosen = self.search.choose(
                    worker.index if worker else None, [w.pending for w in self._workers], enabled
                )
            except ExplorerError as refusal:
                self._refusal = refusal
        if chosen is not None:
            return self._workers[chosen]
        # Nothing is left to run, or to learn: the threads that are left end, one by one.
        for one in live:
            one.abandoned = True
        return live[0] if live else None

    def _hang(self) -> ExplorerError:
        stuck = [worker for worker in self._by_thread.values() if not worker.done]
        frames = sys._current_frames()
        stacks = [
            "".join(traceback.format_stack(frames[ident])[-3:])
            for ident, worker in self._by_thread.items()
            if worker in stuck
        ]
        return ExplorerError(
            f"nothing has moved for {_PATIENCE:.0f} s: a thread waits for something that the "
            "explorer does not control, such as a real lock, a queue written in C, or a sleep. "
            "Make locks in the model or in the watched module.\n" + "\n".join(stacks)
        )


def _nothing(_frame: FrameType, _function: Callable[[], object]) -> None: ...


_current: list[Run] = []


def current_run() -> Run | None:
    """Return the run that is going on, if any."""
    return _current[-1] if _current else None
