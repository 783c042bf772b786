"""Once per process: a forked child builds its own, and leaves the parent's alone."""

from collections.abc import Iterator

import pytest

from plugin_utils import SingletonSlot, _gate
from tests.support import child


def _child_builds_its_own(kind: str) -> None:
    import os

    from tests.primitives.faces import FACES
    from tests.support.forked import in_fork

    closed: list[int] = []
    face = FACES[kind](os.getpid, close=closed.append)
    parent = face.get()

    def work() -> None:
        assert face.peek() is None
        assert face.reset() is False
        assert face.get() == os.getpid() != parent
        assert face.reset() is True
        assert closed == [os.getpid()]

    in_fork(work)
    assert face.peek() == parent
    assert face.reset() is True
    assert closed == [parent]


@pytest.mark.promise(12, 11)
@pytest.mark.learned("connection-from-before-the-fork")
def test_forked_child_builds_its_own(kind: str) -> None:
    """The child starts empty, closes only what it built, and the parent goes on with its own."""
    child.run(_child_builds_its_own, kind)


def _fork_while_others_work(kind: str) -> None:
    import threading

    from plugin_utils import _gate
    from plugin_utils.testing import CountingFactory
    from tests.primitives.faces import FACES
    from tests.support.forked import in_fork

    factory = CountingFactory(object, held=True)
    face = FACES[kind](factory)
    others = [threading.Thread(target=work) for work in (face.get, face.get, face.reset)]
    others[0].start()
    factory.wait_started()
    for other in others[1:]:
        other.start()
    face.wait_for_waiters(2)

    def work() -> None:
        assert not _gate._waiting, "waits of threads that do not exist here"
        factory.release(2)
        assert face.get() is face.peek()

    in_fork(work)
    factory.release(2)
    for other in others:
        other.join(10)


@pytest.mark.promise(12)
@pytest.mark.learned("lock-held-at-the-fork")
def test_fork_while_other_threads_build_wait_and_reset(kind: str) -> None:
    """The child does not hang in a lock whose holder does not exist there."""
    child.run(_fork_while_others_work, kind)


def _fork_inside_a_factory(kind: str, meanwhile: str) -> None:
    import os
    import sys

    from tests.primitives.faces import FACES

    forked: list[int] = []

    def client() -> list[int]:
        if forked:
            return [os.getpid(), 2]
        forked.append(os.fork())
        if not forked[0] and meanwhile == "another":
            face.get()
        return [os.getpid(), 1]

    closed: list[list[int]] = []
    face = FACES[kind](client, close=closed.append)
    instance = face.get()
    number = 2 if meanwhile == "another" and not forked[0] else 1
    assert instance == [os.getpid(), number]
    assert face.peek() is instance
    assert "client" in repr(face)
    assert "lambda" not in repr(face)
    assert face.reset() is True
    assert closed == [instance]
    if forked[0]:
        _, status = os.waitpid(forked[0], 0)
        sys.exit(os.waitstatus_to_exitcode(status))


@pytest.mark.promise(12)
@pytest.mark.parametrize("meanwhile", ["nothing", "another"])
def test_fork_inside_a_factory(kind: str, meanwhile: str) -> None:
    """Both processes return from the factory, and each serves one instance: its first."""
    child.run(_fork_inside_a_factory, kind, meanwhile)


def _fork_inside_a_factory_that_comes_too_late(kind: str) -> None:
    import os

    from tests.primitives.faces import FACES

    forked: list[int] = []

    class Client:
        def __del__(self) -> None:
            print("finaliser", flush=True)

    def client() -> Client:
        if not forked:
            forked.append(os.fork())
            if not forked[0]:
                face.get()
        return Client()

    face = FACES[kind](client)
    face.get()
    if forked[0]:
        _, status = os.waitpid(forked[0], 0)
        os._exit(os.waitstatus_to_exitcode(status))
    face.reset()


@pytest.mark.promise(12)
def test_instance_that_comes_too_late_in_the_child_is_set_aside(kind: str) -> None:
    """The child keeps what it has built itself; what the forked factory brings is not finalised."""
    ended = child.run(_fork_inside_a_factory_that_comes_too_late, kind)
    assert ended.output == "finaliser\n", "of the instance that was reset"


def _set_aside(kind: str, ending: str) -> None:
    import atexit
    import gc
    import os
    import sys
    import weakref

    from tests.primitives.faces import FACES

    parent = os.getpid()

    def say(what: str) -> None:
        if os.getpid() != parent:
            os.write(1, f"{what}\n".encode())

    class Client:
        def __del__(self) -> None:
            say("finaliser")

    face = FACES[kind](Client, close=lambda _client: say("close"))
    weakref.finalize(face.get(), say, "weakref.finalize")
    atexit.register(say, "atexit")
    process = os.fork()
    if process:
        _, status = os.waitpid(process, 0)
        os._exit(os.waitstatus_to_exitcode(status))
    gc.collect()
    face.reset()
    gc.collect()
    if ending == "at once":
        os._exit(0)
    sys.exit()


@pytest.mark.promise(12)
@pytest.mark.learned("connection-from-before-the-fork")
@pytest.mark.parametrize(
    ("ending", "output"), [("at once", ""), ("normally", "atexit\nweakref.finalize\n")]
)
def test_parents_instance_is_never_finalised_in_the_child(
    kind: str, ending: str, output: str
) -> None:
    """Not by the collector, nor at exit; the exit hooks that the program has set itself do run."""
    assert child.run(_set_aside, kind, ending).output == output


def _set_aside_while_leased(kind: str, who: str) -> None:
    import gc
    import os
    import sys

    from tests.primitives.faces import FACES

    parent = os.getpid()

    class Client:
        def __del__(self) -> None:
            if os.getpid() != parent:
                os.write(1, b"finaliser")

    def fork(_client: object = None) -> None:
        process = os.fork()
        if process:
            _, status = os.waitpid(process, 0)
            os._exit(os.waitstatus_to_exitcode(status))

    face = FACES[kind](Client, close=fork if who == "close" else None)
    if who == "close":
        face.get()
        face.reset()
    else:
        with face.lease():
            face.reset()
            fork()
    gc.collect()
    sys.exit()


@pytest.mark.promise(12)
@pytest.mark.parametrize("who", ["lease", "close"])
def test_parents_retired_instance_is_not_finalised_in_the_child(kind: str, who: str) -> None:
    """Nor when it had been dropped before the fork, but was still in use or being closed."""
    assert child.run(_set_aside_while_leased, kind, who).output == ""


def _keep(kind: str) -> None:
    import os

    from tests.primitives.faces import FACES
    from tests.support.forked import in_fork

    closed: list[object] = []
    face = FACES[kind](lambda: [os.getpid()], close=closed.append, fork="keep")
    parent = face.get()

    def work() -> None:
        assert face.get() is parent
        assert face.reset() is True
        assert closed == [], "the parent's instance is not ours to close"
        own = face.get()
        assert own == [os.getpid()]
        assert face.reset() is True
        assert closed == [own]

    def nested() -> None:
        in_fork(work)

    in_fork(nested)
    assert face.reset() is True
    assert closed == [parent]


@pytest.mark.promise(12, 11)
def test_kept_instance_serves_the_child_too(kind: str) -> None:
    """With fork="keep" children go on with the parent's instance, and never close it."""
    child.run(_keep, kind)


def _keep_and_let_go() -> None:
    import gc
    import weakref

    from plugin_utils import SingletonSlot
    from tests.support.forked import in_fork

    class Table:
        """Data that children only read."""

    slot: SingletonSlot[Table] = SingletonSlot(fork="keep")
    slot.get(Table)

    def work() -> None:
        with slot.lease(Table) as table:
            seen = weakref.ref(table)
        del table
        slot.reset()
        gc.collect()
        assert seen() is None

    in_fork(work)


@pytest.mark.promise(12)
def test_kept_instance_that_was_leased_goes_when_it_is_reset() -> None:
    """A lease in the child does not keep the parent's data in memory for ever."""
    child.run(_keep_and_let_go)


def _spawn() -> None:
    import multiprocessing
    import os

    from tests.primitives.spawned import builder, report

    assert builder() == os.getpid()
    process = multiprocessing.get_context("spawn").Process(target=report)
    process.start()
    process.join(20)
    assert process.exitcode == 0


@pytest.mark.promise(12)
def test_spawned_child_builds_its_own() -> None:
    """A process that is spawned imports the module anew, and builds its own instance."""
    child.run(_spawn, limit=30)


def _without_fork() -> None:
    import os

    if hasattr(os, "register_at_fork"):
        del os.register_at_fork

    from plugin_utils import lazy_singleton

    assert lazy_singleton(object)() is not None


@pytest.mark.promise(12)
def test_import_where_there_is_no_fork() -> None:
    """The library works on systems without `os.register_at_fork`."""
    child.run(_without_fork)


@pytest.mark.promise(12)
def test_list_of_all_slots_survives_a_slot_made_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """A set that changes while it is listed is listed again."""

    class Changing(set["_gate.Renewable"]):
        tries = 0

        def __iter__(self) -> "Iterator[_gate.Renewable]":
            self.tries += 1
            if self.tries == 1:
                message = "Set changed size during iteration"
                raise RuntimeError(message)
            return super().__iter__()

    slot: SingletonSlot[object] = SingletonSlot()
    monkeypatch.setattr(_gate, "_alive", Changing([slot]))
    assert _gate.alive() == [slot]


def _fork_during_a_log_call(kind: str) -> None:
    import logging
    import threading

    from tests.primitives.faces import FACES
    from tests.support.forked import in_fork

    log = logging.getLogger("client")
    in_the_handler, go_on = threading.Event(), threading.Event()

    class SlowForOthers(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.threadName != "MainThread":
                in_the_handler.set()
                assert go_on.wait(60)

    def build() -> object:
        log.warning("building")  # the other thread stays in here, and holds the handler's lock
        return object()

    def work() -> None:
        assert face.get() is face.peek()

    log.addHandler(SlowForOthers())
    face = FACES[kind](build)
    other = threading.Thread(target=face.get)
    other.start()
    assert in_the_handler.wait(60)
    in_fork(work)
    go_on.set()
    other.join(60)


@pytest.mark.learned("threads-at-the-fork")
def test_fork_while_another_thread_logs_in_its_build(kind: str) -> None:
    """The child builds and logs, although both locks were held by a thread it does not have."""
    child.run(_fork_during_a_log_call, kind)
