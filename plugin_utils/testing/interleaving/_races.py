"""Which steps of a schedule could have come the other way round.

Step A *happens before* step B if they are of one thread, or depend on each other, A being first, or
if a chain of such pairs leads from A to B. Two dependent steps of different threads with no chain
between them are a race: some schedule has them in the other order. Each step carries a clock that
tells, for each thread, how many of the schedule's steps up to that thread's last one happened
before it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from typing import NamedTuple

from plugin_utils.testing.interleaving._touch import NAMES, Touch

__all__ = ("Past", "Step", "Taken")

Clock = dict[int, int]


@dataclass(frozen=True, slots=True)
class Step:
    """What a thread does when it gets its turn, up to its next step.

    Args:
        touch: What it touches.
        verb: What it does with that, such as "takes" or "releases" a lock.
        lock: The lock in question, by identity.
        free: Tells whether that lock is free.
        waits: Whether the step can be taken only when the lock is free.
    """

    touch: Touch
    verb: str = "touches"
    lock: int | None = None
    free: Callable[[], bool] | None = None
    waits: bool = False

    def ready(self) -> bool:
        """Return whether the step can be taken now."""
        return not self.waits or self.is_free()

    def is_free(self) -> bool:
        """Return whether the step's lock is free now."""
        return self.free is not None and self.free()

    def depends(self, other: Step, *, keys: bool) -> bool:
        """Return whether the order of the two steps can matter."""
        return self.touch.conflicts(other.touch, keys=keys)


class Taken(NamedTuple):
    """A step that was taken.

    Args:
        thread: Who took it.
        step: What it was.
        was_free: Whether its lock was free before it.
    """

    thread: int
    step: Step
    was_free: bool


class Past:
    """What is known of the first steps of a schedule: all that begin with them share it."""

    def __init__(self) -> None:
        self._clocks: list[Clock] = []
        # The places of the steps of each thread, and of those that touch each name.
        self._by_thread: defaultdict[int, list[int]] = defaultdict(list)
        self._by_name: defaultdict[str | None, list[int]] = defaultdict(list)

    def forget(self, first: int) -> None:
        """Forget the step at a place, and all that follow."""
        del self._clocks[first:]
        for places in (*self._by_thread.values(), *self._by_name.values()):
            while places and places[-1] >= first:
                places.pop()

    def races(self, steps: Sequence[Taken], *, keys: bool) -> Iterator[tuple[int, set[int]]]:
        """Yield each new race as the place of its first step, and the threads that could go there.

        Going there, such a thread leads towards a schedule with the two steps the other way round.

        Args:
            steps: The steps of a schedule. It begins with those that are known already.
            keys: As for `Touch.conflicts`.
        """
        clocks = self._clocks
        for place in range(len(clocks), len(steps)):
            thread, step, _ = steps[place]
            own = self._by_thread[thread]
            clock = clocks[own[-1]] if own else {}
            fixed: list[int] = []  # before which this step could not have come: its lock was held
            for earlier in self._may_depend(step, keys=keys):
                other, earlier_step, _ = steps[earlier]
                if other == thread or earlier < clock.get(other, 0):
                    continue
                if not step.depends(earlier_step, keys=keys):
                    continue
                if step.waits and not _was_free(steps, step.lock, earlier):
                    fixed.append(earlier)
                    continue
                before = _joined(clock, *(clocks[one] for one in fixed))
                yield earlier, _starters(steps, [*clocks, before], earlier, place)
                clock = _joined(clock, clocks[earlier])
            clock = _joined(clock, *(clocks[one] for one in fixed))
            clock[thread] = place + 1
            clocks.append(clock)
            own.append(place)
            self._by_name[step.touch.name].append(place)

    def _may_depend(self, step: Step, *, keys: bool) -> Iterable[int]:
        """Return the places of the steps that touch what this one touches, the last one first."""
        if step.touch.is_wild or not keys:
            return range(len(self._clocks) - 1, -1, -1)
        places = (self._by_name[name] for name in (step.touch.name, NAMES, None))
        return merge(*map(reversed, places), reverse=True)


def _was_free(steps: Sequence[Taken], lock: int | None, place: int) -> bool:
    """Return whether a lock was free before the step at a place; a later step has waited for it."""
    return next(taken.was_free for taken in steps[place:] if taken.step.lock == lock)


def _joined(*clocks: Clock) -> Clock:
    result: Clock = {}
    for clock in clocks:
        for thread, count in clock.items():
            if count > result.get(thread, 0):
                result[thread] = count
    return result


def _starters(steps: Sequence[Taken], clocks: list[Clock], first: int, second: int) -> set[int]:
    """Return the threads that can begin the stretch which puts `second` before `first`.

    The stretch is what comes between the two and does not depend on the first, then the second.
    """
    racing = steps[first].thread
    stretch = [k for k in range(first + 1, second) if clocks[k].get(racing, 0) <= first]
    starters: set[int] = set()
    begun: dict[int, int] = {}  # where each thread takes its first step of the stretch
    for place in (*stretch, second):
        thread = steps[place].thread
        before = clocks[place]
        if thread not in begun and not any(before.get(t, 0) > p for t, p in begun.items()):
            starters.add(thread)
        begun.setdefault(thread, place)
    return starters
