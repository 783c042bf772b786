"""What happens to an instance when its process ends."""

import pytest

from tests.support import child


def _exit(kind: str, closing: str) -> None:
    import atexit

    from tests.primitives.faces import FACES

    face = FACES[kind](object, close=lambda _instance: print("closed"))
    if closing == "atexit":
        atexit.register(face.reset)
    face.get()
    print("end")


@pytest.mark.promise(20)
def test_close_is_not_run_behind_the_users_back(kind: str) -> None:
    """At exit the library closes nothing of its own accord."""
    assert child.run(_exit, kind, "never").output == "end\n"


@pytest.mark.promise(20)
@pytest.mark.learned("noise-at-exit")
def test_atexit_recipe_closes(kind: str) -> None:
    """`atexit.register(accessor.reset)` closes what there is."""
    assert child.run(_exit, kind, "atexit").output == "end\nclosed\n"


def _exit_during_a_build(kind: str) -> None:
    import threading

    from plugin_utils.testing import CountingFactory
    from tests.primitives.faces import FACES

    factory = CountingFactory(object, held=True)
    face = FACES[kind](factory)
    for _ in range(2):
        threading.Thread(target=face.get, daemon=True).start()
    factory.wait_started()
    face.wait_for_waiters(1)


@pytest.mark.promise(20)
@pytest.mark.learned("noise-at-exit")
def test_daemon_threads_in_a_build_do_not_keep_the_process(kind: str) -> None:
    """The interpreter ends although daemon threads build and wait."""
    assert child.run(_exit_during_a_build, kind).errors == ""


def _exit_during_a_build_with_a_look(kind: str) -> None:
    import atexit
    import threading

    from plugin_utils.testing import CountingFactory
    from tests.primitives.faces import FACES

    def close() -> None:
        print(face.peek() is not None and face.reset())

    factory = CountingFactory(object, held=True, timeout=60)
    face = FACES[kind](factory)
    atexit.register(close)
    threading.Thread(target=face.get, daemon=True).start()
    factory.wait_started()


@pytest.mark.promise(20)
def test_exit_that_looks_first_does_not_wait_for_a_build(kind: str) -> None:
    """A plain `reset` would: `peek` tells whether there is anything to close."""
    assert child.run(_exit_during_a_build_with_a_look, kind).output == "False\n"


def _finaliser_builds_at_exit(kind: str) -> None:
    import os

    from tests.primitives.faces import FACES

    class Client:
        def __del__(self) -> None:
            os.write(1, type(face.get()).__name__.encode())

    face = FACES[kind](dict[str, str])
    globals()["kept"] = Client()  # until the interpreter clears it, on its way out


@pytest.mark.promise(20)
@pytest.mark.learned("noise-at-exit")
def test_first_call_from_a_finaliser_at_exit(kind: str) -> None:
    """A finaliser that the interpreter runs on its way out can still build."""
    assert child.run(_finaliser_builds_at_exit, kind).output == "dict"
