"""The gate itself: what a lock that knows its holder sees, and what it must not make up."""

import sys
from types import FrameType

import pytest

from plugin_utils import _gate
from tests.primitives.noticed_lock import notice
from tests.support import child
from tests.support.waiting import waiters_of


def _collection_on_the_way_out() -> None:
    import gc

    from plugin_utils._gate import Gate

    gate = Gate("gate")
    seen: list[object] = []

    class Garbage:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            seen.append(gate.hold("reset", lambda: "held"))

    def work() -> object:
        Garbage()
        used_up = [(number, None, None) for number in range(5000)]  # no spare tuple is left,
        gc.set_threshold(1)
        gc.enable()  # so the next one that is made starts a collection
        return used_up

    gc.collect()
    gc.disable()
    gate.hold("get", work)
    gc.collect()
    assert seen == ["held"], seen


def _collection_on_the_way_out_of_a_lease() -> None:
    import gc

    from plugin_utils._tenure import Tenure

    seen: list[object] = []

    class Garbage:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            seen.append(tenure.retire())

    used_up: list[object] = []

    def retired(_tenure: object) -> bool:  # is read while the lock is held
        if not used_up:  # later, the garbage's own finaliser reads it
            Garbage()
            used_up.extend((number, None, None) for number in range(5000))
            gc.set_threshold(1)
            gc.enable()
        return False

    def keep(_tenure: object, _value: object) -> None: ...

    kind = type("Slow", (Tenure,), {"_retired": property(retired, keep)})
    tenure = kind(object())
    gc.collect()
    gc.disable()
    assert tenure.borrow()
    gc.collect()
    assert seen == [False], seen


@pytest.mark.promise(9)
def test_a_collection_while_a_lease_is_taken_may_reset() -> None:
    """A finaliser that runs on the way out of a tenure's lock may want the lock itself."""
    child.run(_collection_on_the_way_out_of_a_lease)


@pytest.mark.promise(9)
@pytest.mark.learned("finaliser-wants-the-lock")
def test_a_collection_while_a_gate_is_released_may_come_back_to_it() -> None:
    """A finaliser that runs after the holder is cleared, and before the lock is, does not hang."""
    child.run(_collection_on_the_way_out)


def _wait_on_top_of_a_wait() -> None:
    import threading

    from plugin_utils import BuildDeadlockError
    from plugin_utils._gate import Gate
    from tests.primitives.noticed_lock import notice

    outer, inner, top = Gate("outer"), Gate("inner"), Gate("top")
    inner_held, top_held, waiting_on_top, decided = (threading.Event() for _ in range(4))

    def hold_inner() -> None:
        inner_held.set()
        assert waiting_on_top.wait(60)
        try:
            outer.hold("get", object)
        except BuildDeadlockError as error:
            print(error.cycle)
        decided.set()

    def hold_top() -> None:
        top_held.set()
        assert decided.wait(60)

    threading.Thread(target=inner.hold, args=("get", hold_inner)).start()
    threading.Thread(target=top.hold, args=("get", hold_top)).start()
    assert inner_held.wait(60)
    assert top_held.wait(60)
    notice(inner, lambda: top.hold("get", object))  # as a signal handler would
    notice(top, waiting_on_top.set)
    outer.hold("get", lambda: inner.hold("get", object))


@pytest.mark.promise(8)
def test_a_wait_that_is_interrupted_by_another_wait_still_counts() -> None:
    """A circle is found although a signal handler waits on top of one of its waits."""
    ended = child.run(_wait_on_top_of_a_wait)
    assert ended.output == "('inner', 'outer', 'inner')\n"


def _build_on_top_of_a_wait() -> None:
    import threading

    from plugin_utils._gate import Gate
    from tests.primitives.noticed_lock import notice

    inner, top = Gate("inner"), Gate("top")
    inner_held, top_held, top_wanted = (threading.Event() for _ in range(3))

    def hold_inner() -> None:
        inner_held.set()
        assert top_held.wait(60)
        top.hold("get", object)

    def hold_top() -> None:
        notice(top, top_wanted.set)
        top_held.set()
        assert top_wanted.wait(60)

    threading.Thread(target=inner.hold, args=("get", hold_inner)).start()
    assert inner_held.wait(60)
    notice(inner, lambda: top.hold("get", hold_top))  # as a signal handler would
    inner.hold("get", object)


@pytest.mark.promise(8)
def test_a_wait_does_not_count_against_what_runs_on_top_of_it() -> None:
    """A signal handler's build ends before the wait that it interrupted: no circle is reported."""
    assert child.run(_build_on_top_of_a_wait).errors == ""


@pytest.mark.promise(3)
def test_second_interrupt_leaves_no_wait_behind() -> None:
    """An interrupt that hits the clean-up after an interrupted wait leaves nothing behind."""
    gate = _gate.Gate("gate")

    def interrupt_again(frame: FrameType, event: str, _arg: object) -> None:
        if event == "call" and frame.f_code.co_filename == _gate.__file__:
            raise KeyboardInterrupt

    def interrupt() -> None:
        sys.setprofile(interrupt_again)
        raise KeyboardInterrupt

    notice(gate, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            gate.hold("get", object)
    finally:
        sys.setprofile(None)
    assert waiters_of(gate) == 0


@pytest.mark.promise(8)
def test_circle_that_is_gone_at_the_second_look_is_no_circle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only a circle that two looks in a row have seen, edge for edge, is reported."""
    gates = [_gate.Gate("a"), _gate.Gate("b")]
    first, second = ([_gate._Hold(1, gate, "get", None)] * 2 for gate in gates)
    looks = iter([first, second, []])

    def look(_wait: _gate._Hold) -> list[_gate._Hold]:
        return next(looks)

    monkeypatch.setattr(_gate, "_circle", look)
    assert gates[0].hold("get", lambda: "held") == "held"
    assert next(looks, None) is None
