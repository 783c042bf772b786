"""The explorer itself: what it reports, and when it refuses to judge."""

from __future__ import annotations

import _thread
import gc
import json
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from itertools import count

import pytest

from plugin_utils import SingletonSlot, _gate, _slot, _tenure
from plugin_utils.testing.interleaving import (
    ExplorerError,
    Model,
    _explore,
    _run,
    explore,
    fresh,
    step,
)
from plugin_utils.testing.interleaving._instrument import Instrument
from plugin_utils.testing.interleaving._search import Search
from tests.interleaving import racy


def of(*functions: Callable[[], object]) -> Model:
    """Return a model without a check."""
    return lambda: (functions, lambda _results: None)


def torn() -> tuple[list[Callable[[], object]], Callable[[list[object]], None]]:
    """Return the model in which a reset meets a reader."""
    module = fresh(racy)
    module.get_client()

    def check(results: list[object]) -> None:
        if results[0] is None:
            raise AssertionError("get_client() returned None")

    return [module.get_client, module.reset_client], check


def test_a_failing_schedule_is_listed_line_by_line() -> None:
    """The listing has a column for each thread, and time goes down."""
    result = explore(torn, watch=[racy])
    assert (
        str(result)
        == """\
get_client() returned None
(schedule 2)

T0: get_client     | T1: reset_client
-------------------+-------------------------------
if _built:         |
                   | with _lock:
                   |     _client = None
                   |     _built = False
                   | with _lock:  # releases a lock
    return _client |
-------------------+-------------------------------
returned None      | returned None"""
    )


def test_two_builders_are_found_and_told_apart() -> None:
    """Instances go by a number, and a line that is cut in two tells what each part does."""

    def model() -> tuple[list[Callable[[], object]], Callable[[list[object]], None]]:
        held: list[object] = [None]

        def get() -> object:
            if held[0] is None:
                held[0] = object()
            return held[0]

        def check(results: list[object]) -> None:
            assert results[0] is results[1]

        return [get, get], check

    result = explore(model)
    assert result.switches == 1
    assert result.listing is not None
    assert result.listing.splitlines()[-1].split() == [
        *("returned", "object", "no.", "1", "|", "returned", "object", "no.", "2")
    ]


def test_a_deadlock_is_a_failure_and_says_where() -> None:
    """A schedule in which nobody can go on names each thread's place."""

    def model() -> tuple[list[Callable[[], object]], Callable[[list[object]], None]]:
        one, two = threading.Lock(), threading.Lock()

        def left() -> None:
            with one, two:
                pass

        def right() -> None:
            with two, one:
                pass

        return [left, right], lambda _results: None

    result = explore(model)
    assert result.failure is not None
    assert result.failure.startswith("deadlock: T0 at left, line ")
    assert "; T1 at right, line " in result.failure
    assert str(result).splitlines()[-1].count("waits for ever") == 2


def test_an_error_in_a_thread_is_a_failure_unless_it_is_allowed() -> None:
    """Allowed errors reach the check in the place of a result."""

    def fails() -> None:
        raise KeyError("gone")

    seen: list[object] = []
    assert explore(of(fails)).failure == "T0 raised KeyError: 'gone'"
    assert explore(lambda: ([fails], seen.extend), allow=(KeyError,)).proved
    assert repr(seen[0]) == "KeyError('gone')"


def test_a_check_without_a_text_still_fails() -> None:
    """A bare assertion has no text of its own where nothing rewrites it."""

    def model() -> tuple[list[Callable[[], object]], Callable[[list[object]], None]]:
        def check(_results: list[object]) -> None:
            raise AssertionError

        return [lambda: racy._built], check

    assert explore(model).failure == "the check failed"


def test_the_canary_comes_first_and_must_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no opcode is reported, nothing would be switched: the explorer does not judge."""

    @contextmanager
    def blind(_self: Instrument, *_codes: object) -> Generator[None]:
        yield

    assert explore(torn, watch=[racy]).failure
    monkeypatch.setattr(Instrument, "thread", blind)
    monkeypatch.setattr(Instrument, "installed", blind)
    with pytest.raises(ExplorerError, match="the explorer is blind here"):
        explore(torn, watch=[racy])


def test_a_thread_that_is_not_watched_is_refused() -> None:
    """A model whose code is out of sight would pass without having been explored."""
    with pytest.raises(ExplorerError, match="T0 ran no code that is watched: pass its module"):
        explore(of(time.monotonic))


def test_a_model_without_threads_is_refused() -> None:
    """Nothing would be run, and nothing would fail."""
    with pytest.raises(ExplorerError, match="nothing would be run"):
        explore(of())


def test_a_model_that_keeps_state_is_refused() -> None:
    """State that outlives a schedule makes the next one take other steps."""
    calls = count()
    shared: list[int] = []

    def unsteady() -> None:
        for _ in range(next(calls) % 3):
            shared.append(1)

    with pytest.raises(ExplorerError, match="not deterministic"):
        explore(of(unsteady, unsteady))


def test_a_failure_that_does_not_come_again_is_refused() -> None:
    """The failing schedule is replayed at once, and must fail in the same way."""
    verdicts = count()

    def model() -> tuple[list[Callable[[], object]], Callable[[list[object]], None]]:
        def check(_results: list[object]) -> None:
            if not next(verdicts):
                raise AssertionError("failed once")

        return [lambda: racy._built], check

    with pytest.raises(ExplorerError, match="'failed once' did not happen again"):
        explore(model)


def test_a_thread_that_waits_out_of_sight_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A real lock stops everything: the error shows where."""
    monkeypatch.setattr(_run, "_PATIENCE", 0.2)
    real = _thread.allocate_lock()
    real.acquire()

    def waits() -> None:
        step()
        real.acquire()

    with pytest.raises(ExplorerError, match=r"nothing has moved(.|\n)*real\.acquire\(\)"):
        explore(of(waits))
    real.release()


def test_time_runs_out() -> None:
    """A search that is stopped has proved nothing."""
    result = explore(of(lambda: racy._built), seconds=0)
    assert not result.proved
    assert str(result) == "no failure in 0 schedules, stopped at the time limit"


def test_a_result_says_how_much_was_run() -> None:
    """The bound and the number of schedules are part of the verdict."""
    assert str(explore(of(lambda: racy._built))) == "no failure in 1 schedule, all there are"
    bounded = explore(torn, watch=[racy], bound=0)
    assert str(bounded) == (
        "no failure in 2 schedules with at most 0 forced switches, all there are"
    )


def test_everything_is_put_back() -> None:
    """After an exploration Python's own locks, and the garbage collector, are as they were."""
    before = (threading.Lock, threading.RLock, _thread.allocate_lock, _thread.RLock, racy._lock)
    explore(torn, watch=[racy])
    after = (threading.Lock, threading.RLock, _thread.allocate_lock, _thread.RLock, racy._lock)
    assert all(one is other for one, other in zip(before, after, strict=True))
    assert gc.isenabled()
    gc.disable()
    try:
        explore(torn, watch=[racy])
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_an_exploration_leaves_a_module_alone() -> None:
    """`fresh` makes another module; the imported one keeps its state."""
    explore(torn, watch=[racy])
    assert racy._client is None
    assert racy.Client.built == 0


def test_a_module_without_source_cannot_be_started_afresh() -> None:
    """There is nothing that could be run again."""
    with pytest.raises(ExplorerError, match="cannot start 'time' afresh"):
        fresh(time)


def test_a_step_does_nothing_outside_of_a_schedule() -> None:
    """A factory may take explicit steps in production code."""
    step("connect")


def test_explicit_steps_are_taken_in_both_orders() -> None:
    """Two steps of one name are two kinds of schedule, of different names one."""
    assert explore(of(lambda: step("a"), lambda: step("a"))).schedules == 2
    assert explore(of(lambda: step("a"), lambda: step("b"))).schedules == 1


def test_code_that_is_not_watched_is_one_step_that_may_touch_anything() -> None:
    """What a foreign function does cannot be told: it is tried before and after all else."""
    text: list[str] = []

    def model() -> tuple[list[Callable[[], object]], Callable[[list[object]], None]]:
        text.clear()
        return [lambda: json.dumps("a"), lambda: text.append("b")], lambda _results: None

    assert explore(model).schedules > 1


def test_a_failure_is_searched_again_for_one_with_fewer_switches() -> None:
    """What a reader is shown has no switch that it does not need."""

    class Wasteful(Search):
        @property
        def switches(self) -> int:
            return 3

    with _explore._prepared(torn, [racy]) as run:
        hunt = _explore._Hunt(run, torn, (), time.monotonic() + 60)
        found = hunt.first_failure(Wasteful())
        assert found
        assert hunt.with_fewest_switches(found).search.switches == 1


def test_many_schedules_collect_garbage_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the schedules leave behind does not pile up."""
    monkeypatch.setattr(_explore, "_COLLECT_EVERY", 1)
    passes = gc.get_stats()[2]["collections"]
    assert explore(of(lambda: step("a"), lambda: step("a"))).proved
    assert gc.get_stats()[2]["collections"] > passes


def test_lines_of_a_hidden_module_are_left_out() -> None:
    """A hidden module's steps are put down to the line that called it, as deep as that is."""

    def model() -> tuple[list[Callable[[], object]], Callable[[list[object]], None]]:
        slot: SingletonSlot[object] = SingletonSlot(name="slot")
        old = slot.get(object)

        def replace() -> object:
            slot.reset()
            return slot.get(object)

        def check(results: list[object]) -> None:
            assert results[0] is old, "replaced"

        return [lambda: slot.get(object), replace], check

    shown, hidden = explore(model).listing, explore(model, hide=[_slot, _gate, _tenure]).listing
    assert shown is not None
    assert hidden is not None
    assert "del self._instance" in shown
    assert "self." not in hidden
    assert "slot.reset()" in hidden
    assert "# goes on" in hidden


def test_what_is_given_up_is_left_in_order() -> None:
    """A thread whose schedule is given up lets go of its locks, and cleans up behind it."""
    before: list[SingletonSlot[object]] = []

    def model() -> tuple[list[Callable[[], object]], Callable[[list[object]], None]]:
        assert not _gate._waiting
        assert all(slot._gate._lock.acquire(blocking=False) for slot in before)
        slot: SingletonSlot[object] = SingletonSlot(name="slot")
        before[:] = [slot]
        return [lambda: slot.get(object)] * 2, lambda _results: None

    result = explore(model, bound=1)
    assert result.proved, result
    assert result.redundant > 0
