"""The helpers for a plugin's own tests."""

import asyncio
import math
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import plugin_utils.testing
from plugin_utils import KeyedSlots, SingletonSlot, aio, lazy_singleton
from plugin_utils.testing import CountingFactory, reset_all, run_together
from tests.support import child


def test_exported_names_are_the_documented_ones() -> None:
    """`__all__` is a sorted tuple, and each of its names is there."""
    names = plugin_utils.testing.__all__
    assert isinstance(names, tuple)
    assert sorted(names) == list(names)
    assert all(hasattr(plugin_utils.testing, name) for name in names)


class TestRunTogether:
    """`run_together`."""

    def test_returns_results_in_thread_order(self) -> None:
        """Each result stands where its thread does."""
        names = run_together(3, lambda: threading.current_thread().name)
        assert names == ["run_together-1", "run_together-2", "run_together-3"]

    def test_all_threads_run_at_once(self) -> None:
        """Every thread is inside the function before any has to leave it."""
        meeting = threading.Barrier(4)
        assert sorted(run_together(4, lambda: meeting.wait(10))) == [0, 1, 2, 3]

    def test_first_exception_is_raised_with_notes_of_the_others(self) -> None:
        """The first thread's exception is raised as it is; the others are named in notes."""

        def fail() -> None:
            raise LookupError(threading.current_thread().name)

        with pytest.raises(LookupError, match="run_together-1") as caught:
            run_together(3, fail)
        assert caught.value.args == ("run_together-1",)
        assert caught.value.__notes__ == [
            f"run_together-{number} raised as well: LookupError('run_together-{number}')"
            for number in (2, 3)
        ]

    def test_shared_exception_is_raised_without_a_note(self) -> None:
        """Threads that raise the very same exception are not listed as if they were several."""
        shared = OSError("down")

        def fail() -> None:
            raise shared

        with pytest.raises(OSError, match="down") as caught:
            run_together(3, fail)
        assert not hasattr(caught.value, "__notes__")

    def test_base_exception_is_raised_too(self) -> None:
        """What would end a thread in silence is raised in the test."""

        def leave() -> None:
            raise SystemExit(3)

        with pytest.raises(SystemExit):
            run_together(1, leave)

    def test_late_thread_is_named_with_its_stack(self) -> None:
        """A thread that hangs is an error that shows where; those that ended are not in it."""
        go_on = threading.Event()
        order = iter([True, False])

        def hang() -> None:
            if next(order):
                go_on.wait(10)

        try:
            with pytest.raises(TimeoutError, match=r"not ended within 0.2 s") as caught:
                run_together(2, hang, timeout=0.2)
        finally:
            go_on.set()
        text = str(caught.value)
        assert text.count(" is at:") == 1
        assert "go_on.wait(10)" in text

    def test_late_thread_does_not_hide_what_another_raised(self) -> None:
        """It may be what the late ones wait for: it is the cause."""
        go_on = threading.Event()
        order = iter([True, False])

        def fail_or_wait() -> None:
            if next(order):
                raise OSError("down")
            go_on.wait(10)

        try:
            with pytest.raises(TimeoutError) as caught:
                run_together(2, fail_or_wait, timeout=0.2)
        finally:
            go_on.set()
        assert repr(caught.value.__cause__) == "OSError('down')"

    def test_too_many_threads_leave_none_behind(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Those that have started already do not wait for the one that cannot."""
        started: list[threading.Thread] = []
        start = threading.Thread.start

        def start_two(thread: threading.Thread) -> None:
            if len(started) == 2:
                raise RuntimeError("can't start new thread")
            start(thread)
            started.append(thread)

        monkeypatch.setattr(threading.Thread, "start", start_two)
        with pytest.raises(RuntimeError, match="can't start"):
            run_together(3, object)
        for thread in started:
            thread.join(10)
            assert not thread.is_alive()

    @pytest.mark.parametrize(
        ("n", "timeout"), [(0, 1.0), (-1, 1.0), (1, 0.0), (1, -1.0), (1, math.inf)]
    )
    def test_bad_argument_is_told(self, n: int, timeout: float) -> None:
        """Too few threads, or no time, is an error that says so."""
        with pytest.raises(ValueError, match=r"must be .* not"):
            run_together(n, object, timeout=timeout)


class TestCountingFactory:
    """`CountingFactory`."""

    def test_counts_and_builds(self) -> None:
        """It counts its calls, and returns what `build` makes."""
        factory = CountingFactory(dict[str, str])
        assert [factory(), factory()] == [{}, {}]
        assert factory.calls == 2

    def test_hands_its_arguments_on(self) -> None:
        """It takes what `build` takes: a slot may call it with a config."""

        def connect(host: str, *, port: int = 80) -> str:
            return f"{host}:{port}"

        factory = CountingFactory(connect)
        slot: SingletonSlot[str] = SingletonSlot()
        assert slot.get(factory, "home") == "home:80"
        assert factory("work", port=8000) == "work:8000"
        assert factory.calls == 2

    def test_fails_where_told(self) -> None:
        """Only the listed call raises."""
        factory = CountingFactory(dict[str, str], failures={2: OSError("down")})
        factory()
        with pytest.raises(OSError, match="down"):
            factory()
        assert factory() == {}

    def test_held_call_goes_on_when_released(self) -> None:
        """A held call is counted at once, and builds only after its release."""
        built: list[int] = []
        factory = CountingFactory(lambda: built.append(1), held=True)
        caller = threading.Thread(target=factory)
        caller.start()
        factory.wait_started()
        assert (factory.calls, built) == (1, [])
        factory.release()
        caller.join(10)
        assert built == [1]

    def test_release_may_come_first(self) -> None:
        """A release counts for calls that come later."""
        factory = CountingFactory(dict[str, str], held=True)
        factory.release(2)
        assert [factory(), factory()] == [{}, {}]

    def test_forgotten_release_is_an_error(self) -> None:
        """A call that nobody releases fails, and does not hang."""
        factory = CountingFactory(dict[str, str], held=True, timeout=0.01)
        with pytest.raises(TimeoutError, match=r"call 1 was not released within 0.01 s"):
            factory()

    def test_call_that_gave_up_uses_up_no_release(self) -> None:
        """What is released afterwards is the next call."""
        factory = CountingFactory(dict[str, str], held=True, timeout=0.01)
        with pytest.raises(TimeoutError):
            factory()
        factory.release()
        assert factory() == {}

    def test_missing_call_is_an_error(self) -> None:
        """Waiting for a call that does not come fails, and says how many came."""
        factory = CountingFactory(dict[str, str])
        factory()
        with pytest.raises(TimeoutError, match=r"1 of 2 calls have started within 0.01 s"):
            factory.wait_started(2, timeout=0.01)

    @pytest.mark.parametrize(("held", "calls"), [(False, 1), (True, 0)])
    def test_meaningless_release_is_told(self, *, held: bool, calls: int) -> None:
        """Releasing what is not held, or nothing, is an error."""
        with pytest.raises(ValueError, match=r"release|at least 1"):
            CountingFactory(dict[str, str], held=held).release(calls)

    def test_accessor_does_not_inherit_its_state(self) -> None:
        """An accessor made of it has no `calls` that would stay at 0."""
        assert not hasattr(lazy_singleton(CountingFactory(dict[str, str])), "calls")


@pytest.fixture
def closed() -> Iterator[list[object]]:
    """Return a list, and leave no singleton of the test behind."""
    yield []
    reset_all()


class TestResetAll:
    """`reset_all`."""

    def test_empties_every_kind(self, closed: list[object]) -> None:
        """Accessors, slots and tables of slots are empty afterwards, and closed."""
        accessor = lazy_singleton(close=closed.append)(lambda: "accessor")
        slot: SingletonSlot[str] = SingletonSlot(close=closed.append)
        slots: KeyedSlots[str, str] = KeyedSlots(close=closed.append)
        accessor()
        slot.get(str, "slot")
        slots.get("a", str, "keyed a")
        slots.get("b", str, "keyed b")
        reset_all()
        assert accessor.peek() is slot.peek() is slots.peek("a") is None
        assert len(slots) == 0
        assert sorted(map(str, closed)) == ["accessor", "keyed a", "keyed b", "slot"]

    def test_empties_what_was_built_by_coroutines(self) -> None:
        """So are accessors of coroutines, whose instances are not closed."""
        closed: list[object] = []

        @aio.lazy_singleton(scope="process", close=closed.append)
        async def client() -> object:
            return object()

        asyncio.run(client())
        assert client.peek() is not None
        reset_all()
        assert client.peek() is None
        assert closed == []

    def test_one_error_keeps_no_other_from_being_dropped(self) -> None:
        """What fails is raised as a group, after all the rest is dropped."""
        fails = [True]

        def close(instance: object) -> None:
            if fails:
                fails.clear()
                raise OSError(instance)

        slots: list[SingletonSlot[object]] = [SingletonSlot(close=close) for _ in range(3)]
        for slot in slots:
            slot.get(object)
        with pytest.raises(ExceptionGroup, match="1 of the singletons") as caught:
            reset_all()
        assert [type(error) for error in caught.value.exceptions] == [OSError]
        assert [slot.peek() for slot in slots] == [None] * 3


accessor_of_the_module = lazy_singleton(object)


class TestFixture:
    """`reset_singletons`."""

    @pytest.mark.usefixtures("reset_singletons")
    @pytest.mark.parametrize("turn", [1, 2])
    def test_each_test_starts_empty(self, turn: int) -> None:
        """Whatever another test has built is gone."""
        assert accessor_of_the_module.peek() is None, turn
        accessor_of_the_module()

    def test_nothing_is_left_after_a_test(self) -> None:
        """A test that follows one with the fixture finds nothing of it."""
        assert accessor_of_the_module.peek() is None

    def test_pytest_finds_it_by_its_entry_point(self) -> None:
        """An installed plugin-utils brings the fixture along."""
        project = tomllib.loads(Path(child.ROOT, "pyproject.toml").read_text("utf-8"))["project"]
        assert "plugin_utils.testing.pytest_plugin" in project["entry-points"]["pytest11"].values()
