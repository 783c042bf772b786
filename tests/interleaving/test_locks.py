"""The locks that take part in schedules, and are ordinary locks outside of them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

import pytest

from plugin_utils.testing.interleaving import explore
from plugin_utils.testing.interleaving._locks import Lock, RLock

Parts = tuple[list[Callable[[], object]], Callable[[list[object]], None]]


def test_a_lock_keeps_others_out() -> None:
    """A count under a lock is never lost."""

    def model() -> Parts:
        lock = threading.Lock()
        total = [0]

        def add() -> None:
            with lock:
                total[0] += 1

        def check(_results: list[object]) -> None:
            assert total == [2]

        return [add, add], check

    result = explore(model)
    assert result.proved, result
    assert result.schedules == 2


def test_a_timed_wait_ends_both_ways() -> None:
    """A wait with a time limit is tried with and without success."""
    seen: set[object] = set()

    def model() -> Parts:
        lock = threading.Lock()

        def holds() -> object:
            with lock:
                return "held"

        def tries() -> object:
            if lock.acquire(timeout=1):
                lock.release()
                return "got it"
            return "too late"

        return [holds, tries], seen.update

    assert explore(model).proved
    assert seen == {"held", "got it", "too late"}


def test_whether_a_lock_is_held_can_be_asked() -> None:
    """Asking is a step like any other."""
    seen: set[object] = set()

    def model() -> Parts:
        lock = threading.Lock()

        def holds() -> None:
            with lock:
                pass

        return [holds, lock.locked], lambda results: seen.add(results[1])

    assert explore(model).proved
    assert seen == {True, False}


def test_a_reentrant_lock_lets_its_owner_in_again() -> None:
    """Only the owner, and only until it has left as often as it came."""

    def model() -> Parts:
        lock = threading.RLock()
        total = [0]

        def add() -> None:
            with lock, lock:
                total[0] += 1

        def check(_results: list[object]) -> None:
            assert total == [2]

        return [add, add], check

    assert explore(model).proved


def test_what_threading_builds_on_locks_works() -> None:
    """Events, conditions and semaphores wait for each other in schedules, too."""

    def model() -> Parts:
        condition, event = threading.Condition(), threading.Event()
        ready: list[int] = []

        def waits() -> object:
            with condition:
                while not ready:
                    condition.wait()
            return event.wait()

        def tells() -> object:
            with condition:
                ready.append(1)
                condition.notify()
            event.set()
            return True

        def check(results: list[object]) -> None:
            assert results == [True, True]

        return [waits, tells], check

    result = explore(model, bound=1)
    assert result.proved, result
    assert result.schedules > 5


def test_an_event_is_set_before_or_after_the_wait() -> None:
    """One thread waits for what the other releases: both kinds of schedule are run, and no more."""

    def model() -> Parts:
        event = threading.Event()
        return [event.set, event.wait], lambda _results: None

    result = explore(model)
    assert result.proved, result
    assert result.schedules == 2


def test_locks_in_code_that_is_not_watched_take_part() -> None:
    """A queue of the standard library works, though nothing is known of what it touches."""

    def model() -> Parts:
        items: queue.Queue[int] = queue.Queue()

        def check(results: list[object]) -> None:
            assert results == [None, 1]

        def get() -> int:  # a function of this file: `items.get` itself would be watched
            return items.get()

        return [lambda: items.put(1), get], check

    result = explore(model)
    assert result.proved, result
    assert result.schedules > 2


def test_a_lock_that_is_never_released_fails_the_check() -> None:
    """A check that would wait for a lock for ever fails instead."""

    def model() -> Parts:
        lock = threading.Lock()

        def check(_results: list[object]) -> None:
            with lock:
                pass

        return [lock.acquire], check

    assert explore(model).failure == "a lock is still held after every thread has ended"


@pytest.mark.parametrize("kind", [Lock, RLock])
def test_they_are_ordinary_locks_elsewhere(kind: type[Lock]) -> None:
    """A lock that outlives an exploration goes on protecting."""
    lock = kind()
    total = [0]

    def add() -> None:
        for _ in range(2000):
            with lock:
                before = total[0]
                total[0] = before + 1

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert total == [8000]
    assert not lock.locked()


def test_only_the_owner_releases_a_reentrant_lock() -> None:
    """The error is the one of `threading.RLock`."""
    with pytest.raises(RuntimeError, match="cannot release un-acquired lock"):
        RLock().release()


def test_a_reentrant_lock_refuses_others() -> None:
    """Who tries without waiting is told no."""
    lock = RLock()
    tries: list[bool] = []
    with lock:
        other = threading.Thread(target=lambda: tries.append(lock.acquire(blocking=False)))
        other.start()
        other.join(20)
    assert tries == [False]


def test_a_condition_restores_how_often_a_lock_was_taken() -> None:
    """Waiting on a condition releases a lock that was taken twice, and takes it twice again."""
    lock: Any = RLock()  # no RLock by its type, but by all that Condition asks of it
    condition = threading.Condition(lock)
    with lock, lock:
        assert not condition.wait(timeout=0.01)
        assert lock._depth == 2
    assert not lock.locked()


def test_a_forked_child_can_start_over() -> None:
    """`threading` renews the locks of its own objects in a child."""
    lock = Lock()
    lock.acquire()
    lock._at_fork_reinit()
    assert not lock.locked()
