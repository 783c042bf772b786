"""What the first call does, and what every later one costs."""

import threading

import pytest

from plugin_utils.testing import CountingFactory, run_together
from tests.primitives.faces import Make
from tests.support import child


@pytest.mark.promise(1)
@pytest.mark.learned("two-first-callers", "loser-left-open")
def test_first_callers_share_one_instance(make: Make) -> None:
    """Of many threads that call first, one runs the factory and all get its instance."""
    threads = 8

    def build() -> object:
        face.wait_for_waiters(threads - 1)  # so every other thread has found nothing, and waits
        return object()

    factory = CountingFactory(build)
    face = make(factory)
    instances = run_together(threads, face.get)
    assert factory.calls == 1
    assert set(instances) == {face.peek()}


@pytest.mark.learned("discovery-on-the-loser")
def test_what_was_set_up_is_what_is_served(make: Make) -> None:
    """Every first caller gets the manager on which the plugins were discovered, once."""
    threads = 8
    discoveries: list[str] = []

    def build() -> list[str]:
        manager: list[str] = []
        face.wait_for_waiters(threads - 1)  # the others have come, and would take any manager
        discoveries.append("run")
        manager.append("plugin")
        return manager

    face = make(build)
    assert run_together(threads, lambda: list(face.get())) == [["plugin"]] * threads
    assert discoveries == ["run"]


@pytest.mark.learned("done-before-it-is", "half-built")
def test_nothing_is_seen_of_a_build_that_goes_on(make: Make) -> None:
    """Whoever comes during a build waits; who only looks finds nothing, and no half of it."""

    class Client:
        def __init__(self) -> None:
            begun.set()
            assert go_on.wait(10)
            self.is_ready = True

    begun, go_on = threading.Event(), threading.Event()
    face = make(Client)
    found: list[bool] = []
    callers = [threading.Thread(target=lambda: found.append(face.get().is_ready)) for _ in "ab"]
    for caller in callers:
        caller.start()
    assert begun.wait(10)
    face.wait_for_waiters(1)
    assert (face.peek(), found) == (None, [])
    go_on.set()
    for caller in callers:
        caller.join(10)
    assert found == [True, True]


@pytest.mark.promise(4)
@pytest.mark.parametrize("falsy", [None, False, 0, ""], ids=repr)
def test_falsy_instance_is_cached(make: Make, falsy: object) -> None:
    """An instance that is false counts as an instance: it is built once."""
    factory = CountingFactory(lambda: falsy)
    face = make(factory)
    assert [face.get(), face.get()] == [falsy, falsy]
    assert factory.calls == 1


@pytest.mark.promise(4)
def test_peek_tells_none_from_unset(make: Make) -> None:
    """With a default of its own, a caller can tell a cached None from an empty slot."""
    face = make(lambda: None)
    unset = object()
    assert face.peek(unset) is unset
    assert face.peek() is None
    face.get()
    assert face.peek(unset) is None


@pytest.mark.promise(13)
@pytest.mark.learned("one-lock-for-all-singletons")
def test_two_singletons_never_block_each_other(make: Make) -> None:
    """A build that takes its time keeps no other accessor or slot waiting."""
    slow_factory = CountingFactory(object, held=True)
    slow, quick = make(slow_factory), make(object)
    builder = threading.Thread(target=slow.get)
    builder.start()
    slow_factory.wait_started()
    first = quick.get()
    assert quick.reset()
    assert quick.get() is not first
    slow_factory.release()
    builder.join(10)
    assert slow.peek() is not None


@pytest.mark.promise(14)
def test_hit_takes_no_lock(make: Make) -> None:
    """While another thread holds the gate, a call that finds an instance does not wait."""
    face = make(object)
    instance = face.get()
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        held.set()
        done.wait(10)

    holder = threading.Thread(target=face.slot._gate.hold, args=("get", hold))
    holder.start()
    assert held.wait(10)
    assert run_together(2, face.get) == [instance, instance]
    assert run_together(2, face.peek) == [instance, instance]
    assert holder.is_alive()
    done.set()
    holder.join(10)


def _allocated_by_hits() -> None:
    import tracemalloc
    from collections.abc import Iterator
    from itertools import repeat

    from plugin_utils import SingletonSlot, lazy_singleton

    accessor = lazy_singleton(object)
    slot: SingletonSlot[object] = SingletonSlot()

    def call(times: Iterator[None]) -> None:
        for _ in times:
            accessor()
            accessor.peek()
            slot.get(object)
            slot.peek()

    def peak(calls: int) -> int:
        times = repeat(None, calls)
        tracemalloc.start()
        before, _ = tracemalloc.get_traced_memory()
        call(times)
        _, after = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return after - before

    call(repeat(None, 1000))  # builds both, and lets the interpreter specialise the code
    # The least of some tries: what the measuring itself takes depends on what it finds free.
    print(*(min(peak(calls) for _ in range(5)) for calls in (0, 10_000)))


@pytest.mark.promise(14)
def test_hit_allocates_nothing() -> None:
    """Ten thousand calls that find an instance need not one byte, not even meanwhile."""
    # -S: without what site-packages start, such as a coverage tracer, which allocates.
    none, many = child.run(_allocated_by_hits, options=["-S"]).output.split()
    assert int(many) <= int(none)
