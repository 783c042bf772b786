"""What is kept of a schedule: how it ended and, when it is replayed, each thing that was done."""

from __future__ import annotations

from types import CodeType, FrameType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
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
    """

    thread: int
    code: CodeType
    line: int
    depth: int
    verb: str
    touch: Touch
    matters: bool

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


def action(thread: int, frame: FrameType, verb: str, touch: Touch, *, matters: bool) -> Action:
    """Return the record of what a thread has just done in a frame."""
    return Action(thread, frame.f_code, frame.f_lineno, _depth(frame), verb, touch, matters)


def _depth(frame: FrameType) -> int:
    """Return how many calls a frame is below the thread's own function."""
    depth = -2  # that function, and the worker's loop which has called it
    outer: FrameType | None = frame
    while outer:
        depth, outer = depth + 1, outer.f_back
    return depth
