"""Which schedule to run next, and when all that matter have been run.

A schedule is a list of decisions: at each step that touches something shared, which thread goes.
The search keeps the decisions of the current schedule on a stack and changes the last one that has
another choice left.

Without a bound it runs one schedule of each kind: two schedules are of one kind if they differ only
in the order of steps that do not depend on each other. After each schedule it looks for *races*:
two dependent steps of different threads that could have come the other way round. Only where a race
asks for it does a decision get another choice (dynamic partial order reduction with source sets:
Abdulla, Aronis, Jonsson and Sagonas, POPL 2014). A choice that was explored *sleeps* while its
siblings are explored, until a step that depends on it is taken: what a sleeping thread would do
next has been seen in that order already (Godefroid, 1996).

With a bound it runs every schedule that has at most that many forced switches: a thread that could
go on is made to wait. Switches are made only at steps that conflict with some step of another
thread; making one elsewhere amounts to making it at the thread's next such step.

Which steps conflict is not known at first. It is learned from the schedules, by the places in the
code, and whenever something is learned, the search starts anew.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from plugin_utils.testing.interleaving._errors import ExplorerError
from plugin_utils.testing.interleaving._races import Clock, Step, Taken, races
from plugin_utils.testing.interleaving._touch import ITEMS, SOME, WHOLE, Touch

__all__ = ("Place", "Search")

# An opcode of the code: whatever tells it from all others, in every schedule alike.
Place = Hashable
_Seen = tuple[int, Place, Touch]  # which thread, where, what


@dataclass(slots=True)
class Decision:
    """One place in the current schedule where a thread was chosen.

    Args:
        enabled: The threads that could go, the running one first.
        sleep: Those whose next step has been explored in this place already.
        todo: Those to be explored here, the chosen one included.
        chosen: The one that goes.
        switches: Forced switches in the schedule before this decision.
        forced: The thread that would have to wait if another went; None if it cannot go.
        step: What the chosen one does.
        was_free: Whether the lock in question was free before it.
    """

    enabled: tuple[int, ...]
    sleep: set[int]
    todo: set[int]
    chosen: int
    switches: int
    forced: int | None
    step: Step
    was_free: bool = field(init=False, default=False)
    after: int = field(init=False, default=0)

    def choose(self, thread: int, step: Step) -> None:
        """Let a thread go."""
        self.chosen, self.step, self.was_free = thread, step, step.is_free()
        self.after = self.switches + (self.forced not in (None, thread))


class Search:
    """The frontier of a search over schedules. It knows nothing of real threads.

    Args:
        bound: The greatest number of forced switches, or None for all schedules that matter.
    """

    def __init__(self, bound: int | None = None) -> None:
        self.bound = bound
        self.schedules = 0  # that have been run to their end since something was last learned
        self.redundancies = 0  # that turned out on the way to have been seen in another order
        self.redundant = False  # whether the current schedule is one of those
        self._stack: list[Decision] = []
        self._depth = 0
        self._clocks: list[Clock] = []  # of those first steps whose races are known
        # What is known to matter: places where something conflicting was touched, and whether
        # touches of different keys of a container are independent.
        self._places: set[Place] = set()
        self._keys = True
        self._seen: set[_Seen] = set()

    @property
    def switches(self) -> int:
        """The number of forced switches in the current schedule."""
        return self._stack[self._depth - 1].after if self._depth else 0

    @property
    def schedule(self) -> list[int]:
        """The threads in the order in which they were chosen."""
        return [decision.chosen for decision in self._stack[: self._depth]]

    def start(self) -> None:
        """Begin the next schedule."""
        self._depth = 0
        self.redundant = False
        self._seen.clear()

    def end(self) -> bool:
        """Take note of the schedule that has ended, and return whether it counts.

        It does not if it has shown that something matters which was not known to. The search has
        started anew then; what happened in the schedule will come again, in its proper place.
        """
        if self._learn():
            self._stack.clear()
            self._clocks.clear()
            self.schedules = self.redundancies = 0
            return False
        self.schedules += not self.redundant
        self.redundancies += self.redundant
        return True

    def matters(self, thread: int, place: Place, touch: Touch) -> bool:
        """Return whether another thread may get its turn before this touch."""
        self._seen.add((thread, place, touch))
        return place in self._places

    def choose(
        self, running: int | None, pending: Sequence[Step], enabled: list[int]
    ) -> int | None:
        """Return the thread that takes its next step, or None if this schedule is redundant.

        Args:
            running: The thread that took the last step.
            pending: The next step of each thread.
            enabled: The threads that can take theirs.
        """
        order = tuple(enabled)
        if running in enabled:
            order = (running, *(thread for thread in enabled if thread != running))
        if self._depth == len(self._stack):
            opened = self._open(running, pending, order)
            if opened is None:
                self.redundant = True
                return None
            self._stack.append(opened)
        decision = self._stack[self._depth]
        if decision.enabled != order:
            msg = (
                "the model is not deterministic: the same schedule led to other steps. Make all "
                "state anew in the model function, and use no time, randomness or threads in it."
            )
            raise ExplorerError(msg)
        self._depth += 1
        decision.choose(decision.chosen, pending[decision.chosen])
        return decision.chosen

    def advance(self) -> bool:
        """Go on to the next schedule, and return whether there is one."""
        if self.bound is None:
            self._add_reversals()
        while self._stack:
            decision = self._stack[-1]
            decision.todo.discard(decision.chosen)
            if self.bound is None:
                decision.sleep.add(decision.chosen)
            left = [t for t in decision.enabled if t in decision.todo and t not in decision.sleep]
            if left:
                decision.chosen = left[0]
                del self._clocks[len(self._stack) - 1 :]
                return True
            self._stack.pop()
        return False

    def _open(
        self, running: int | None, pending: Sequence[Step], enabled: tuple[int, ...]
    ) -> Decision | None:
        switches, sleep = 0, set[int]()
        if self._stack:
            last = self._stack[-1]
            switches = last.after
            sleep = {t for t in last.sleep if not last.step.depends(pending[t], keys=self._keys)}
        forced = running if running in enabled else None
        options = [thread for thread in enabled if thread not in sleep]
        if self.bound is None or (forced is not None and switches >= self.bound):
            options = options[:1]
        if not options:
            return None
        first = options[0]
        return Decision(enabled, sleep, set(options), first, switches, forced, pending[first])

    def _add_reversals(self) -> None:
        taken = [
            Taken(decision.chosen, decision.step, decision.was_free)
            for decision in self._stack[: self._depth]
        ]
        for place, starters in races(taken, self._clocks, keys=self._keys):
            decision = self._stack[place]
            if starters & (decision.todo | decision.sleep):
                continue  # a schedule with the two steps the other way round is foreseen
            able = starters.intersection(decision.enabled)
            decision.todo |= {min(able)} if able else set(decision.enabled)

    def _learn(self) -> bool:
        """Find what matters that was not known to; return whether there is anything."""
        by_name: defaultdict[str | None, list[_Seen]] = defaultdict(list)
        for seen in self._seen:
            by_name[seen[2].name].append(seen)
        everything = by_name.pop(None, [])
        found: set[Place] = set()
        for name, touches in by_name.items():
            others = touches + everything
            if name is not None and any(touch.write for _, _, touch in others):
                found.update(self._conflicting(touches, others))
        found.update(self._conflicting(everything, list(self._seen)) if everything else ())
        self._places |= found
        ordered = self._keys and _order_matters([touch for _, _, touch in by_name[ITEMS]])
        self._keys = self._keys and not ordered
        return bool(found) or ordered

    def _conflicting(self, some: list[_Seen], others: list[_Seen]) -> Iterator[Place]:
        for thread, place, touch in some:
            if place not in self._places and any(
                thread != other and touch.conflicts(touched, keys=self._keys)
                for other, _, touched in others
            ):
                yield place


def _order_matters(touches: list[Touch]) -> bool:
    """Return whether a container that is written key by key is also looked at as a whole."""
    wholes = [touch for touch in touches if touch.key is WHOLE]
    keyed = [touch for touch in touches if touch.write and touch.key not in (WHOLE, SOME)]
    return any(whole.meets(one) for whole in wholes for one in keyed)
