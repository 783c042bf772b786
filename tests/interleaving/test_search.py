"""The search, on programs that are lists of steps: no threads, no Python code."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import inf

import pytest

from plugin_utils.testing.interleaving import ExplorerError
from plugin_utils.testing.interleaving._races import Step
from plugin_utils.testing.interleaving._search import Search
from plugin_utils.testing.interleaving._touch import EVERYTHING, ITEMS, SOME, WHOLE, Touch

Program = list[list["Act"]]


@dataclass(frozen=True)
class Act:
    """A step of an abstract program: "read", "write", or "take", "free", "look" at a lock."""

    kind: str
    touch: Touch
    lock: str | None = None


@dataclass
class State:
    """A program part of the way through."""

    program: Program
    done: list[tuple[int, int]] = field(default_factory=list)
    held: dict[str | None, int] = field(default_factory=dict)

    def next_act(self, thread: int) -> Act | None:
        """Return the thread's next step, or None if it has ended."""
        at = sum(owner == thread for owner, _ in self.done)
        return self.program[thread][at] if at < len(self.program[thread]) else None

    def enabled(self) -> list[int]:
        """Return the threads that can go."""
        acts = [(thread, self.next_act(thread)) for thread in range(len(self.program))]
        return [t for t, act in acts if act and (act.kind != "take" or self._is_free(act))]

    def _is_free(self, act: Act) -> bool:
        return act.lock not in self.held

    def go(self, thread: int) -> None:
        """Take a thread's next step."""
        act = self.next_act(thread)
        assert act
        if act.kind == "take":
            self.held[act.lock] = thread
        elif act.kind == "free":
            self.held.pop(act.lock, None)
        self.done.append((thread, sum(owner == thread for owner, _ in self.done)))

    def kind(self) -> frozenset[tuple[tuple[int, int], tuple[int, int]]]:
        """Return what is the same for all schedules of one kind: the order of dependent steps."""
        return frozenset(
            (one, two)
            for one, two in combinations(self.done, 2)
            if one[0] != two[0] and self._touch(one).conflicts(self._touch(two), keys=True)
        )

    def _touch(self, place: tuple[int, int]) -> Touch:
        return self.program[place[0]][place[1]].touch


def read(name: str) -> Act:
    """Return a step that reads a name."""
    return Act("read", Touch(name, write=False))


def write(name: str) -> Act:
    """Return a step that writes a name."""
    return Act("write", Touch(name, write=True))


def take(name: str) -> Act:
    """Return a step that takes a lock."""
    return Act("take", Touch(name, write=True), name)


def free(name: str) -> Act:
    """Return a step that lets go of a lock."""
    return Act("free", Touch(name, write=True), name)


def look(name: str) -> Act:
    """Return a step that looks whether a lock is held."""
    return Act("look", Touch(name, write=False), name)


def unseen(act: Act) -> Act:
    """Return a step as code takes it that is not watched: it may touch anything."""
    return replace(act, touch=EVERYTHING)


def run(search: Search, program: Program) -> State | None:
    """Run the search's next schedule; return how it ended, or None if it was redundant."""
    search.start()
    state = State(program)
    running: int | None = None
    for thread in range(len(program)):
        _to_next_that_matters(search, state, thread)
    while enabled := state.enabled():
        steps = [_step(state, thread) for thread in range(len(program))]
        running = search.choose(running, steps, enabled)
        if running is None:
            return None
        state.go(running)
        _to_next_that_matters(search, state, running)
    return state


def _to_next_that_matters(search: Search, state: State, thread: int) -> None:
    while act := state.next_act(thread):
        place = thread, sum(owner == thread for owner, _ in state.done)
        if search.matters(thread, place, act.touch) or act.kind == "take":
            return
        state.go(thread)


def _step(state: State, thread: int) -> Step:
    act = state.next_act(thread) or read("")
    if act.lock is None:
        return Step(act.touch)
    return Step(
        act.touch,
        lock=hash(act.lock),
        free=lambda: act.lock not in state.held,
        waits=act.kind == "take",
    )


def explored(program: Program, bound: int | None = None) -> tuple[set[object], Search]:
    """Run the whole search; return the kinds of schedule that it has seen."""
    search = Search(bound)
    kinds: set[object] = set()
    while True:
        state = run(search, program)
        if not search.end():
            kinds.clear()
            continue
        if state:
            kinds.add(state.kind())
        if not search.advance():
            return kinds, search


def everything(program: Program, bound: float = inf) -> Iterator[State]:
    """Run every schedule there is that has at most so many forced switches."""
    waiting = [(State(program), 0)]
    while waiting:
        state, switches = waiting.pop()
        threads = state.enabled()
        if not threads:
            yield state
        running = state.done[-1][0] if state.done else None
        for thread in threads:
            after = State(program, list(state.done), dict(state.held))
            after.go(thread)
            now = switches + (running in threads and thread != running)
            if now <= bound:
                waiting.append((after, now))


def some_program(seed: int) -> Program:
    """Return a random program: two threads of up to five steps, or three of up to three."""
    chance = random.Random(seed)
    threads, most = chance.choice([(2, 5), (3, 3)])
    program: Program = []
    for _ in range(threads):
        acts = [
            look(chance.choice("KL"))
            if chance.random() < 0.2
            else chance.choice([read, write])(chance.choice("xyz"))
            for _ in range(most)
        ]
        if chance.random() < 0.7:
            lock, start = chance.choice("KL"), chance.randrange(most - 1)
            acts[start], acts[-1] = take(lock), free(lock)
        program.append([unseen(a) if not a.lock and chance.random() < 0.2 else a for a in acts])
    return program


@pytest.mark.parametrize("seed", range(100))
def test_each_kind_of_schedule_is_run_once(seed: int) -> None:
    """The search runs one schedule of every kind, and no kind twice."""
    program = some_program(seed)
    kinds, search = explored(program)
    assert kinds == {state.kind() for state in everything(program)}
    assert search.schedules == len(kinds)


@pytest.mark.parametrize("bound", [0, 1, 2])
@pytest.mark.parametrize("seed", range(40))
def test_each_kind_within_a_bound_is_run(seed: int, bound: int) -> None:
    """No kind of schedule is lost that has one with so few forced switches, and none is added."""
    program = some_program(seed)
    assert explored(program, bound)[0] == {state.kind() for state in everything(program, bound)}


def test_who_frees_a_lock_is_not_asleep() -> None:
    """Letting go of a lock late can save a switch: the other has to wait for it, unforced."""
    one = [write("z"), take("L"), free("L"), write("y"), write("x")]
    two = [read("z"), write("y"), take("L"), free("L"), write("x")]
    for bound in range(3):
        kinds = {state.kind() for state in everything([one, two], bound)}
        assert explored([one, two], bound)[0] == kinds


def test_one_big_switch_is_not_enough() -> None:
    """With a bound, a schedule that needs more forced switches is not run."""
    program = [[write("x"), write("x")], [write("x"), write("x")]]
    counts = [explored(program, bound)[1].schedules for bound in range(4)]
    assert counts == [2, 4, 6, 6]
    assert len(explored(program)[0]) == 6


def test_steps_that_touch_the_same_only_by_reading_are_one_kind() -> None:
    """Readers do not race."""
    assert explored([[read("x")] * 3, [read("x")] * 3])[1].schedules == 1


def test_a_deadlock_is_reached() -> None:
    """Two locks in opposite orders: one kind of schedule ends with both threads waiting."""
    program = [[take("K"), take("L")], [take("L"), take("K")]]
    ends = {len(state.done) for state in everything(program)}
    search = Search()
    seen: set[int] = set()
    while True:
        state = run(search, program)
        counts = search.end()
        if counts and state:
            seen.add(len(state.done))
        if counts and not search.advance():
            break
    assert seen == ends


def test_what_may_touch_anything_conflicts_with_all() -> None:
    """A step that cannot be told apart is tried before and after every other."""
    program = [[Act("write", EVERYTHING)], [read("x"), read("y")]]
    assert explored(program)[1].schedules == 3


def key(name: object, *, write: bool) -> Act:
    """Return a step that reads or writes a key of the only dict."""
    return Act("write" if write else "read", Touch(ITEMS, write, 1, name))


def test_different_keys_are_independent() -> None:
    """Two keys of one dict do not conflict; one key with itself does."""
    assert explored([[key("a", write=True)], [key("b", write=True)]])[1].schedules == 1
    assert explored([[key("a", write=True)], [key("a", write=False)]])[1].schedules == 2
    assert explored([[key("a", write=True)], [key(SOME, write=False)]])[1].schedules == 2


def test_the_order_of_keys_counts_once_somebody_looks() -> None:
    """Where a dict is iterated over, even writes of different keys do not commute."""
    program = [[key("a", write=True)], [key("b", write=True)], [key(WHOLE, write=False)]]
    assert explored(program)[1].schedules == 6


def test_other_steps_in_the_same_schedule_are_an_error() -> None:
    """A model that does something else the second time cannot be searched."""
    search = Search()
    program = [[write("x"), write("x")], [write("x"), write("x")]]
    while not search.schedules:
        run(search, program)
        search.end()
    assert search.advance()
    with pytest.raises(ExplorerError, match="not deterministic"):
        run(search, program[:1])
