"""Which steps of a schedule could have come the other way round.

Step A *happens before* step B if they are of one thread, or depend on each other, A being first, or
if a chain of such pairs leads from A to B. Two dependent steps of different threads with no chain
between them are a race: some schedule has them in the other order. Each step carries a clock that
tells, for each thread, how many of the schedule's steps up to that thread's last one happened
before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plugin_utils.testing.interleaving._touch import Touch

__all__ = ("Clock", "Step", "races")

Clock = dict[int, int]


@dataclass(frozen=True, slots=True)
class Step:
    """What a thread does when it gets its turn, up to its next step.

    Args:
        touch: What it touches.
        ready: Tells whether it can be taken now. None: always.
        frees: Whether it makes a step of this kind possible, as releasing a lock does.
        verb: What it does with what it touches, for the listing.
    """

    touch: Touch
    ready: Callable[[], bool] | None = None
    frees: bool = False
    verb: str = "touches"

    def depends(self, other: Step, *, keys: bool) -> bool:
        """Return whether the order of the two steps can matter."""
        return self.touch.conflicts(other.touch, keys=keys)


def races(
    steps: Sequence[tuple[int, Step]], clocks: list[Clock], *, keys: bool
) -> Iterator[tuple[int, set[int]]]:
    """Yield each race as the place of its first step, and the threads that could go there instead.

    Going there, such a thread leads towards a schedule with the two steps the other way round.

    Args:
        steps: The steps of a schedule, each with its thread.
        clocks: The clocks of its first steps, whose races are known. The others are added.
        keys: As for `Touch.conflicts`.
    """
    for place in range(len(clocks), len(steps)):
        thread, step = steps[place]
        clock = _last_clock(steps, clocks, thread)
        enabling: list[int] = []
        for earlier in range(place - 1, -1, -1):
            other, earlier_step = steps[earlier]
            if other == thread or earlier < clock.get(other, 0):
                continue
            if not step.depends(earlier_step, keys=keys):
                continue
            if step.ready and earlier_step.frees:
                enabling.append(earlier)  # could not come first: no race, but it comes before
                continue
            before = _joined(clock, *(clocks[free] for free in enabling))
            yield earlier, _starters(steps, [*clocks, before], earlier, place)
            clock = _joined(clock, clocks[earlier])
        clock = _joined(clock, *(clocks[free] for free in enabling))
        clock[thread] = place + 1
        clocks.append(clock)


def _last_clock(steps: Sequence[tuple[int, Step]], clocks: list[Clock], thread: int) -> Clock:
    for place in range(len(clocks) - 1, -1, -1):
        if steps[place][0] == thread:
            return clocks[place]
    return {}


def _joined(*clocks: Clock) -> Clock:
    result: Clock = {}
    for clock in clocks:
        for thread, count in clock.items():
            if count > result.get(thread, 0):
                result[thread] = count
    return result


def _starters(
    steps: Sequence[tuple[int, Step]], clocks: list[Clock], first: int, second: int
) -> set[int]:
    """Return the threads that can begin the stretch which puts `second` before `first`.

    The stretch is what comes between the two and does not depend on the first, then the second.
    """
    racing = steps[first][0]
    stretch = [k for k in range(first + 1, second) if clocks[k].get(racing, 0) <= first]
    starters: set[int] = set()
    begun: dict[int, int] = {}  # where each thread takes its first step of the stretch
    for place in (*stretch, second):
        thread = steps[place][0]
        before = clocks[place]
        if thread not in begun and not any(before.get(t, 0) > p for t, p in begun.items()):
            starters.add(thread)
        begun.setdefault(thread, place)
    return starters
