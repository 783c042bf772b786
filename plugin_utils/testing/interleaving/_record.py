"""What is kept of a schedule: how it ended and, when it is replayed, each thing that was done."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from types import CodeType, FrameType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from plugin_utils.testing.interleaving._races import Step
    from plugin_utils.testing.interleaving._touch import Touch

__all__ = ("Action", "Outcome", "action")


class Action(NamedTuple):
    """One thing that a thread did.

    Args:
        thread: Who did it.
        code: The function in which it was done.
        line: The number of the line.
        depth: How many calls below the thread's own function.
        verb: What was done with what was touched, such as "reads".
        touch: What was touched.
        matters: Whether another thread could have had its turn right before.
        within: Whether it was done in a hidden file, which this line has called.
    """

    thread: int
    code: CodeType
    line: int
    depth: int
    verb: str
    touch: Touch
    matters: bool
    within: bool

    @property
    def spot(self) -> tuple[int, CodeType, int]:
        """What is the same for all that one call does on one line."""
        return self.depth, self.code, self.line


class Outcome(NamedTuple):
    """How a schedule ended.

    Args:
        values: What each thread returned.
        errors: What each thread raised.
        stuck: Where each thread waits for another, if they all wait.
        unwatched: The threads that ran no code that is watched.
    """

    values: list[object]
    errors: list[BaseException | None]
    stuck: list[str]
    unwatched: list[int]

    @property
    def deadlock(self) -> str:
        """Where the threads wait for each other; empty if they do not."""
        return "; ".join(
            f"T{thread} at {place}" for thread, place in enumerate(self.stuck) if place
        )


def action(
    thread: int, frame: FrameType, step: Step, *, matters: bool, hidden: Collection[str] = ()
) -> Action:
    """Return the record of what a thread has just done in a frame.

    What is done in a hidden file is put down to the line that called it, if a listing shows that.
    """
    frames = [outer for outer in _outward(frame) if outer.f_code.co_filename not in hidden]
    depth = len(frames) - 2  # that function, and the worker's loop which has called it
    shown = frames[0] if depth >= 0 else frame
    within = shown is not frame
    code, line = shown.f_code, shown.f_lineno
    return Action(thread, code, line, depth, step.verb, step.touch, matters, within)


def _outward(frame: FrameType) -> Iterator[FrameType]:
    """Yield a frame, and those that called it."""
    outer: FrameType | None = frame
    while outer:
        yield outer
        outer = outer.f_back
