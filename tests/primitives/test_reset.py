"""`reset` against readers, builds, and what the dropped instance itself does."""

import gc
import socket
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any, Self

import pytest

from plugin_utils.testing import CountingFactory, run_together
from tests.primitives.faces import Face, Make
from tests.primitives.two_fields import TwoFields


class SlowFinaliser:
    """An instance whose finaliser lets other threads in."""

    def __del__(self) -> None:
        time.sleep(0)  # releases the GIL


VALUES: dict[str, Callable[[], object]] = {
    "temporary file": tempfile.TemporaryFile,
    "socket": socket.socket,
    "slow finaliser": SlowFinaliser,
}


@pytest.mark.promise(5)
@pytest.mark.learned("reset-while-others-use-it")
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_readers_get_whole_instances_while_another_thread_resets(make: Make, value: str) -> None:
    """Every get returns an instance, never None or an error, however often reset comes between."""
    build = VALUES[value]
    face = make(build)
    kinds: set[type[object]] = set()
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            kinds.add(type(face.get()))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        resets = sum(face.reset() for _ in range(25))
    finally:
        stop.set()
        for reader in readers:
            reader.join(10)
    assert resets > 0
    assert len(kinds) == 1
    assert isinstance(face.get(), *kinds)
    face.reset()


def read_while_the_instance_goes(make_holder: Callable[[Callable[[], object]], Any]) -> object:
    """Return what another thread gets while the dropped instance's finaliser runs."""
    found: list[object] = []

    class Instance:
        def __del__(self) -> None:
            if not found:
                found.extend(run_together(1, holder.get))

    holder = make_holder(Instance)
    holder.get()
    assert holder.reset() is True
    [instance] = found
    return instance


@pytest.mark.promise(5, 10)
def test_reader_gets_a_new_instance_while_the_old_one_goes(make: Make) -> None:
    """The slot is empty before the last reference goes: no reader is held up, or gets nothing."""
    assert type(read_while_the_instance_goes(make)).__name__ == "Instance"


@pytest.mark.promise(5)
def test_flag_beside_the_value_gives_nothing_while_the_instance_goes() -> None:
    """The two-field form gives None then: the test would find it in ours."""
    assert read_while_the_instance_goes(TwoFields) is None


class ResettingTracer:
    """A line tracer that calls `reset` once, before its n-th event."""

    def __init__(self, reset: Callable[[], object], *, at: int, looks: bool) -> None:
        self._reset = reset
        self._at = at
        self._looks = looks
        self.events = 0

    def __call__(self, frame: FrameType, _event: str, _arg: object) -> Self:
        """Count the event, and go on tracing."""
        if self._looks:
            _ = frame.f_locals
        if self.events == self._at:
            self._reset()
        self.events += 1
        return self


def resets_at_each_line(
    get: Callable[[], object], reset: Callable[[], object], *, looks: bool
) -> list[tuple[object, object]]:
    """Return what `get` found when a reset came before its first line, its second, and so on.

    A reset from a tracer is the schedule "the reader stops here, and another thread resets".

    Args:
        get: Called with an instance in place.
        reset: Called once during `get`.
        looks: Whether the tracer reads `frame.f_locals`, as debuggers do.

    Returns:
        For each line the instance before the reset, and what the interrupted `get` returned.
    """
    found: list[tuple[object, object]] = []
    outer = sys.gettrace()
    while True:
        old = get()
        tracer = ResettingTracer(reset, at=len(found), looks=looks)
        sys.settrace(tracer)
        try:
            got = get()
        finally:
            sys.settrace(outer)
        if tracer.events <= len(found):
            return found
        found.append((old, got))


@pytest.mark.promise(5)
@pytest.mark.learned("read-twice")
@pytest.mark.parametrize("looks", [False, True], ids=["line tracer", "tracer reads f_locals"])
def test_reset_between_any_two_lines_of_a_hit(make: Make, *, looks: bool) -> None:
    """Wherever the reset comes, the reader gets an instance, old or new, and the old stays gone."""
    face = make(SlowFinaliser)
    found = resets_at_each_line(face.get, face.reset, looks=looks)
    assert len(found) >= 3
    assert {type(got) for _, got in found} == {SlowFinaliser}
    old, got = found[0]
    assert got is not old, "a reset before the first line is seen"
    last_old, _ = found[-1]
    assert face.get() is not last_old


@pytest.mark.promise(5)
def test_flag_beside_the_value_is_seen_torn() -> None:
    """The same schedules find the torn read of the two-field form: they would find ours."""
    holder = TwoFields(SlowFinaliser)
    found = resets_at_each_line(holder.get, holder.reset, looks=False)
    assert None in [got for _, got in found]


@pytest.mark.promise(6)
def test_reset_waits_for_the_build(make: Make) -> None:
    """A reset that comes during a build returns after it, and its instance is not served."""
    factory = CountingFactory(object, held=True)
    face = make(factory)
    built: list[object] = []
    dropped: list[bool] = []
    builder = threading.Thread(target=lambda: built.append(face.get()))
    resetter = threading.Thread(target=lambda: dropped.append(face.reset()))
    builder.start()
    factory.wait_started()
    resetter.start()
    face.wait_for_waiters(1)
    assert dropped == []
    factory.release(2)
    builder.join(10)
    resetter.join(10)
    assert dropped == [True]
    assert face.peek() is None
    assert face.get() is not built[0]


@pytest.mark.promise(6)
@pytest.mark.learned("deferred-part-taken-twice")
def test_reset_tells_whether_there_was_an_instance(make: Make) -> None:
    """Only the call that drops an instance returns true."""
    face = make(object)
    assert face.reset() is False
    face.get()
    assert face.reset() is True
    assert face.reset() is False


@pytest.mark.promise(6)
@pytest.mark.learned("reset-while-others-use-it", "done-while-it-waited")
def test_stale_instance_is_dropped_once(make: Make) -> None:
    """Of many threads that found the same stale instance, one drops it; an equal new one stays."""
    closed: list[object] = []
    face = make(lambda: ["client"], close=closed.append)
    stale = face.get()
    assert sorted(run_together(8, lambda: face.reset(expected=stale))) == [False] * 7 + [True]
    fresh = face.get()
    assert face.reset(expected=stale) is False
    assert face.peek() is fresh
    assert closed == [stale]


@pytest.mark.promise(6)
def test_none_is_an_instance_to_expect(make: Make) -> None:
    """`reset(expected=None)` drops a cached None, and nothing else."""
    nothing, something = make(lambda: None), make(object)
    assert nothing.reset(expected=None) is False
    nothing.get()
    something.get()
    assert nothing.reset(expected=None) is True
    assert something.reset(expected=None) is False


@pytest.mark.promise(10)
@pytest.mark.parametrize("how", ["__del__", "close"])
def test_dropped_instance_may_come_back(make: Make, how: str) -> None:
    """Its finaliser or close finds the slot empty: a get builds anew, a reset drops that."""
    seen: list[object] = []

    def come_back() -> None:
        seen.append(face.peek("empty"))
        seen.append(face.reset())
        seen.append(type(face.get()))

    class Instance:
        def __del__(self) -> None:
            if how == "__del__" and not seen:
                come_back()

    def close(_instance: Instance) -> None:
        if how == "close" and not seen:
            come_back()

    face: Face[Instance] = make(Instance, close=close)
    face.get()
    [dropped] = run_together(1, face.reset)
    assert dropped is True
    assert seen == ["empty", False, Instance]
    assert isinstance(face.peek(), Instance)


@pytest.mark.promise(11)
@pytest.mark.learned("deferred-part-taken-twice")
def test_each_dropped_instance_is_closed_once(make: Make) -> None:
    """Of many threads that reset, one closes the instance."""
    closed: list[object] = []
    face = make(object, close=closed.append)
    dropped: list[object] = []
    for _ in range(5):
        dropped.append(face.get())
        run_together(4, face.reset)
    assert closed == dropped


@pytest.mark.promise(11)
@pytest.mark.learned("handed-out-while-it-closes")
def test_close_runs_outside_the_lock_with_the_slot_empty(make: Make) -> None:
    """While an instance is being closed, other threads build and use the next one."""
    closing, go_on = threading.Event(), threading.Event()
    peeked: list[object] = []

    def close(_instance: object) -> None:
        peeked.append(face.peek("empty"))
        closing.set()
        go_on.wait(10)

    face = make(object, close=close)
    old = face.get()
    resetter = threading.Thread(target=face.reset)
    resetter.start()
    assert closing.wait(10)
    [new] = run_together(1, face.get)
    assert run_together(1, lambda: face.reset(close=False)) == [True]
    go_on.set()
    resetter.join(10)
    assert peeked == ["empty"]
    assert new is not old


@pytest.mark.promise(11)
def test_failing_close_reaches_the_caller_of_reset(make: Make) -> None:
    """The error propagates, the slot is empty all the same, and nothing is closed twice."""
    closed: list[object] = []

    def close(instance: object) -> None:
        closed.append(instance)
        message = "socket is gone"
        raise OSError(message)

    face = make(object, close=close)
    face.get()
    with pytest.raises(OSError, match="socket is gone"):
        face.reset()
    assert face.peek() is None
    assert face.reset() is False
    assert len(closed) == 1


@pytest.mark.promise(11)
def test_reset_can_leave_the_instance_open(make: Make) -> None:
    """`reset(close=False)` drops without closing."""
    closed: list[object] = []
    face = make(object, close=closed.append)
    face.get()
    assert face.reset(close=False) is True
    assert closed == []


@pytest.mark.promise(19)
@pytest.mark.parametrize("fails", [False, True], ids=["", "close fails"])
def test_dropped_instance_is_gone_at_once(make: Make, *, fails: bool) -> None:
    """Nothing in the library keeps it: it dies without the garbage collector's help."""

    class Instance:
        pass

    def close(_instance: object) -> None:
        if fails:
            raise OSError

    face = make(Instance, close=close)
    kept = weakref.ref(face.get())
    gc.disable()
    try:
        with suppress(OSError):
            face.reset()
        assert kept() is None
    finally:
        gc.enable()


@pytest.mark.promise(19)
def test_dropped_slot_takes_its_instance_along(make: Make) -> None:
    """An accessor or slot that goes out of use keeps nothing alive, and leaves no cycle behind."""

    class Instance:
        pass

    face = make(Instance)
    instance, slot = weakref.ref(face.get()), weakref.ref(face.slot)
    gc.collect()
    gc.disable()
    try:
        del face
        assert slot() is None
        assert instance() is None
    finally:
        gc.enable()
