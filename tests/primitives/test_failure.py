"""A factory that fails leaves nothing behind, and nobody hangs."""

import threading
import traceback
from contextlib import suppress

import pytest

from plugin_utils.testing import CountingFactory, run_together
from tests.primitives.faces import Make
from tests.support import child


@pytest.mark.promise(2)
@pytest.mark.learned("failure-taken-for-done")
def test_failed_build_caches_nothing(make: Make) -> None:
    """After a failure the slot is empty, and the next call builds."""
    factory = CountingFactory(object, failures={1: OSError("down")})
    face = make(factory)
    with pytest.raises(OSError, match="down"):
        face.get()
    assert face.peek() is None
    assert face.get() is face.peek()
    assert factory.calls == 2


@pytest.mark.promise(2)
def test_traceback_reaches_the_line_in_the_factory(make: Make) -> None:
    """The caller of a failed build sees where in the factory it failed."""

    def connect() -> object:
        message = "down"
        raise OSError(message)

    with pytest.raises(OSError, match="down") as caught:
        make(connect).get()
    last = traceback.extract_tb(caught.tb)[-1]
    assert (last.name, last.line) == ("connect", "raise OSError(message)")
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ is False
    assert caught.value.__context__ is None, "the empty slot is no part of the story"


@pytest.mark.promise(2)
@pytest.mark.learned("every-call-pays-for-the-failure")
def test_waiters_retry_one_at_a_time(make: Make) -> None:
    """Each failure reaches only the thread that built; the others try in turn."""
    threads = 6
    building: list[int] = []
    most_at_once: list[int] = []
    failures = {1: OSError("first"), 2: OSError("second")}

    def build() -> object:
        building.append(1)
        most_at_once.append(len(building))
        number = len(most_at_once)
        if number == 1:
            face.wait_for_waiters(threads - 1)
        building.pop()
        if number in failures:
            raise failures[number]
        return object()

    face = make(build)

    def call() -> object:
        try:
            return face.get()
        except OSError as error:
            return error

    results = run_together(threads, call)
    assert most_at_once == [1, 1, 1]
    assert {error for error in results if isinstance(error, OSError)} == set(failures.values())
    assert results.count(face.peek()) == threads - 2


@pytest.mark.promise(3)
@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), GeneratorExit()], ids=repr)
def test_base_exception_releases_the_gate(make: Make, error: BaseException) -> None:
    """What is no `Exception` ends a build like any other error: nothing is cached or held."""
    factory = CountingFactory(object, failures={1: error})
    face = make(factory, on_failure="share")
    with pytest.raises(type(error)):
        face.get()
    assert face.peek() is None
    [instance] = run_together(1, face.get)
    assert instance is face.peek()


@pytest.mark.promise(3)
def test_thread_that_dies_in_its_build_releases_the_gate(make: Make) -> None:
    """A waiter takes over when the thread that built has ended without an instance."""
    factory = CountingFactory(object, held=True, failures={1: SystemExit()})
    face = make(factory)

    def die() -> None:
        with suppress(SystemExit):
            face.get()

    dying = threading.Thread(target=die)
    dying.start()
    factory.wait_started()
    waiter = threading.Thread(target=face.get)
    waiter.start()
    face.wait_for_waiters(1)
    factory.release(2)
    dying.join(10)
    waiter.join(10)
    assert factory.calls == 2
    assert face.peek() is not None


def _interrupted_build(kind: str) -> None:
    import os
    import signal

    from tests.primitives.faces import FACES

    calls: list[int] = []

    def build() -> object:
        calls.append(1)
        if len(calls) == 1:
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1_000_000):  # the signal arrives at one of these lines
                pass
        return object()

    signal.signal(signal.SIGINT, signal.default_int_handler)  # off in a shell's background jobs
    face = FACES[kind](build)
    try:
        face.get()
    except KeyboardInterrupt:
        print("interrupted", face.peek())
    assert face.get() is face.peek()


@pytest.mark.promise(3)
def test_interrupt_from_the_keyboard_during_a_build(kind: str) -> None:
    """Control-C in a factory caches nothing, and the next call builds."""
    assert child.run(_interrupted_build, kind).output == "interrupted None\n"


def _interrupted_wait(kind: str) -> None:
    import os
    import signal
    import threading
    import time

    from plugin_utils.testing import CountingFactory
    from tests.primitives.faces import FACES

    factory = CountingFactory(object, held=True)
    face = FACES[kind](factory)
    builder = threading.Thread(target=face.get)
    builder.start()
    factory.wait_started()

    interrupts: list[int] = []

    def raise_once(_number: int, _frame: object) -> None:
        interrupts.append(1)
        if len(interrupts) == 1:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, raise_once)

    def interrupt() -> None:
        face.wait_for_waiters(1)
        # Again and again: Python does not see one that comes just before the wait itself begins.
        while not interrupts:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)

    threading.Thread(target=interrupt).start()
    try:
        face.get()
    except KeyboardInterrupt:
        print("interrupted", face.peek())
    factory.release()
    builder.join(10)
    assert face.get() is face.peek()
    assert factory.calls == 1


@pytest.mark.promise(3)
def test_interrupt_from_the_keyboard_during_a_wait(kind: str) -> None:
    """Control-C ends the wait for another thread's build, which goes on undisturbed."""
    assert child.run(_interrupted_wait, kind).output == "interrupted None\n"


def _interrupted_at_any_moment(interrupts: int) -> None:
    import signal
    import threading

    from plugin_utils import SingletonSlot, _gate
    from plugin_utils.testing import run_together

    class Interrupt(BaseException):
        """Comes between any two bytecodes of the main thread, as a KeyboardInterrupt does."""

    armed = False

    def interrupt(_number: int, _frame: object) -> None:
        if armed:
            raise Interrupt

    outer: SingletonSlot[object] = SingletonSlot(name="outer")
    inner: SingletonSlot[object] = SingletonSlot(name="inner")
    stop = threading.Event()

    def use() -> None:
        outer.get(lambda: inner.get(object))
        outer.reset()
        inner.reset()

    def use_until_stopped() -> None:
        while not stop.is_set():
            use()

    other = threading.Thread(target=use_until_stopped)
    other.start()
    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    while interrupts:
        try:
            armed = True
            while True:
                use()
        except Interrupt:
            armed = False  # at once: the next one is on its way
            interrupts -= 1
    signal.setitimer(signal.ITIMER_REAL, 0)
    stop.set()
    other.join()
    assert not _gate._waiting
    assert run_together(2, use) == [None, None]


@pytest.mark.promise(3)
def test_interrupts_at_any_moment_leave_nothing_held() -> None:
    """A hundred interrupts at any moment of get and reset leave no lock taken, and no wait."""
    child.run(_interrupted_at_any_moment, 100, limit=30)


@pytest.mark.promise(4)
@pytest.mark.learned("cache-of-a-coroutine")
def test_coroutine_is_not_cached(make: Make) -> None:
    """A factory that returns a coroutine gets a TypeError that says what to use."""

    async def connect() -> object:
        raise AssertionError

    def build() -> object:
        return connect()

    face = make(build)
    with pytest.raises(TypeError, match=r"plugin_utils\.aio"):
        face.get()
    assert face.peek() is None
