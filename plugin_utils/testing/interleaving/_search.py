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

With a bound it runs every kind of schedule that has at most that many forced switches: a thread
that could go on is made to wait. Switches are made only at steps that conflict with some step of
another thread; making one elsewhere amounts to making it at the thread's next such step. A thread
that was made to wait sleeps until a step is taken that depends on what it would have done. If it
went on before, that step could as well have come before the wait: the search runs that schedule,
and it has no more forced switches, unless the step decides whether another thread can go.

Which steps conflict is not known at first. It is learned from the schedules, by the places in the
code, and whenever something is learned, the search starts anew.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from plugin_utils.testing.interleaving._errors import ExplorerError
from plugin_utils.testing.interleaving._races import Past, Step, Taken
from plugin_utils.testing.interleaving._touch import ITEMS, NAMES, Touch

__all__ = ("Place", "Search")

# An opcode of the code: whatever tells it from all others, in every schedule alike.
Place = Hashable
_Seen = tuple[int, Place, Touch]  # which thread, where, what


@dataclass(slots=True)
class Decision:
    """One place in the current schedule where a thread was chosen.

    Args:
        enabled: The threads that could go, the running one first.
        sleep: Those whose next step need not be explored in this place.
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
        self._past = Past()  # those first steps whose races are known
        # What is known to matter: places where something conflicting was touched, and whether
        # touches of different keys of a container are independent.
        self._places: set[Place] = set()
        self._keys = True
        # What the current schedule has touched, by name, and the part of it in other places.
        self._seen: defaultdict[str | None, set[_Seen]] = defaultdict(set)
        self._strange: set[_Seen] = set()
        self._written: set[str | None] = set()

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
        self._strange.clear()
        self._written.clear()

    def end(self) -> bool:
        """Take note of the schedule that has ended, and return whether it counts.

        It does not if it has shown that something matters which was not known to. The search has
        started anew then; what happened in the schedule will come again, in its proper place.
        """
        if self._learn():
            self._stack.clear()
            self._past.forget(0)
            self.schedules = self.redundancies = 0
            return False
        self.schedules += not self.redundant
        self.redundancies += self.redundant
        return True

    def matters(self, thread: int, place: Place, touch: Touch) -> bool:
        """Return whether another thread may get its turn before this touch."""
        seen = thread, place, touch
        self._seen[touch.name].add(seen)
        if touch.write:
            self._written.add(touch.name)
        if place in self._places:
            return True
        self._strange.add(seen)
        return False

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
                decision.todo -= decision.sleep
            left = [thread for thread in decision.enabled if thread in decision.todo]
            if left:
                decision.chosen = left[0]
                self._past.forget(len(self._stack) - 1)
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
            sleep = {t for t in self._sleepers(last) if not self._depend(last.step, pending[t])}
        forced = running if running in enabled else None
        options = [thread for thread in enabled if thread not in sleep]
        if self.bound is None:
            options = options[:1]
        elif forced is not None and switches >= self.bound:
            options = [forced]
        else:
            options = [t for t in enabled if t in options or self._frees(t, pending)]
        if not options:
            return None
        first = options[0]
        return Decision(enabled, sleep, set(options), first, switches, forced, pending[first])

    def _sleepers(self, last: Decision) -> set[int]:
        """Return who was asleep at the last decision, or has been put to sleep by it."""
        if self.bound is None:
            return last.sleep
        made_to_wait = set[int]() if last.forced is None else {last.forced}
        return (last.sleep | made_to_wait) - {last.chosen}

    def _frees(self, thread: int, pending: Sequence[Step]) -> bool:
        """Return whether the thread's next step decides if another can go: that is worth a look."""
        return any(step.waits and self._depend(step, pending[thread]) for step in pending)

    def _depend(self, one: Step, two: Step) -> bool:
        return one.depends(two, keys=self._keys)

    def _add_reversals(self) -> None:
        taken = [
            Taken(decision.chosen, decision.step, decision.was_free)
            for decision in self._stack[: self._depth]
        ]
        for place, starters in self._past.races(taken, keys=self._keys):
            decision = self._stack[place]
            if starters & (decision.todo | decision.sleep):
                continue  # a schedule with the two steps the other way round is foreseen
            able = starters.intersection(decision.enabled)
            decision.todo |= {min(able)} if able else set(decision.enabled)

    def _learn(self) -> bool:
        """Find what matters that was not known to; return whether there is anything."""
        # What nobody writes conflicts with nothing.
        suspects = self._strange
        if not self._written & {None, NAMES}:
            shared = {None, NAMES, *self._written}
            suspects = {seen for seen in suspects if seen[2].name in shared}
        found = {place for thread, place, touch in suspects if self._meets(thread, touch)}
        ordered = self._keys and self._order_matters()
        self._places |= found
        self._keys = self._keys and not ordered
        return bool(found) or ordered

    def _meets(self, thread: int, touch: Touch) -> bool:
        """Return whether another thread's touch, in this schedule, conflicts with this one."""
        wild = touch.is_wild or not self._keys
        names = list(self._seen) if wild else [touch.name, NAMES, None]
        return any(
            thread != other and touch.conflicts(touched, keys=self._keys)
            for name in names
            for other, _, touched in self._seen[name]
        )

    def _order_matters(self) -> bool:
        """Return whether a container that is written key by key is also looked at as a whole."""
        wholes = {touch for name in (ITEMS, NAMES) for _, _, touch in self._seen[name]}
        writes = {touch for seen in self._seen.values() for _, _, touch in seen if touch.write}
        return any(whole.sees_order_of(one) for whole in wholes for one in writes)
