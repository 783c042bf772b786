"""A thread that comes back to the singleton that it is building."""

import pytest

from plugin_utils import RecursiveBuildError, SingletonError, SingletonSlot, lazy_singleton
from plugin_utils.testing import run_together
from tests.primitives.faces import Face, Make
from tests.support import child


def _comes_back(kind: str, how: str) -> None:
    from plugin_utils import RecursiveBuildError
    from tests.primitives.faces import FACES

    calls: list[int] = []

    def client() -> object:
        calls.append(1)
        return face.get() if how == "get" else face.reset()

    face = FACES[kind](client)
    try:
        face.get()
    except RecursiveBuildError as error:
        print(error.name)
        print(error)
    assert len(calls) == 1
    assert face.peek() is None


@pytest.mark.promise(7)
@pytest.mark.learned("partial-list-for-good")
@pytest.mark.parametrize("how", ["get", "reset"])
def test_factory_that_comes_back_gets_an_error(kind: str, how: str) -> None:
    """The error names the accessor or slot, comes at once, and nothing is built twice."""
    name, text, *_ = child.run(_comes_back, kind, how).output.splitlines()
    assert name == "__main__._comes_back.<locals>.client"
    assert text.startswith(f"{name}: {how}() was called by the thread that is already inside get()")


@pytest.mark.promise(7)
def test_singleton_is_usable_after_a_recursive_build(make: Make) -> None:
    """The error leaves nothing held: another thread builds."""
    nested = [True]

    def build() -> object:
        return face.get() if nested else object()

    face: Face[object] = make(build)
    with pytest.raises(RecursiveBuildError):
        face.get()
    nested.clear()
    assert run_together(2, face.get) == [face.peek()] * 2


@pytest.mark.promise(7)
def test_recursion_through_another_singleton_is_found() -> None:
    """A needs B and B needs A, in one thread: the error names A, where it closes."""

    @lazy_singleton
    def a() -> object:
        return b.get(lambda: a())  # noqa: PLW0108 - `a` is not there yet

    b: SingletonSlot[object] = SingletonSlot(name="b")
    with pytest.raises(RecursiveBuildError) as caught:
        a()
    assert caught.value.name.endswith(".a")
    assert a.peek() is None
    assert b.peek() is None


@pytest.mark.promise(7)
def test_errors_are_what_a_caller_can_catch() -> None:
    """All errors of the library are `SingletonError`, and that is a `RuntimeError`."""
    assert issubclass(RecursiveBuildError, SingletonError)
    assert issubclass(SingletonError, RuntimeError)


def _finaliser_comes_back(kind: str, how: str) -> None:
    import gc

    from plugin_utils import RecursiveBuildError
    from tests.primitives.faces import FACES

    seen: list[object] = []

    class Garbage:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            try:
                face.get() if how == "get" else face.reset()
            except RecursiveBuildError as error:
                seen.append(type(error))

    def build() -> object:
        Garbage()
        gc.collect()
        return object()

    face = FACES[kind](build)
    assert face.get() is face.peek()
    assert seen == [RecursiveBuildError], seen


@pytest.mark.promise(9)
@pytest.mark.learned("factory-under-the-table-lock")
@pytest.mark.parametrize("how", ["get", "reset"])
def test_finaliser_inside_a_build_gets_an_error(kind: str, how: str) -> None:
    """A finaliser that the collector runs during a build is told, and the build goes on."""
    child.run(_finaliser_comes_back, kind, how)


def _weak_callback_comes_back(kind: str) -> None:
    import gc
    import weakref

    from plugin_utils import RecursiveBuildError
    from tests.primitives.faces import FACES

    seen: list[object] = []

    class Garbage:
        def __init__(self) -> None:
            self.itself = self

    def come_back() -> None:
        try:
            face.reset()
        except RecursiveBuildError as error:
            seen.append(type(error))

    def build() -> object:
        weakref.finalize(Garbage(), come_back)
        gc.collect()
        return object()

    face = FACES[kind](build)
    face.get()
    assert seen == [RecursiveBuildError], seen


@pytest.mark.promise(9)
@pytest.mark.learned("finaliser-wants-the-lock")
def test_weak_callback_inside_a_build_gets_an_error(kind: str) -> None:
    """So is a `weakref.finalize` callback."""
    child.run(_weak_callback_comes_back, kind)


@pytest.mark.promise(9)
def test_signal_handler_inside_a_build_gets_an_error(kind: str) -> None:
    """A signal handler that comes in the middle of a build is told, too."""
    child.run(_handler_comes_back, kind)


def _handler_comes_back(kind: str) -> None:
    import signal

    from plugin_utils import RecursiveBuildError
    from tests.primitives.faces import FACES

    seen: list[object] = []

    def handler(_number: int, _frame: object) -> None:
        try:
            face.get()
        except RecursiveBuildError as error:
            seen.append(type(error))

    def build() -> object:
        signal.raise_signal(signal.SIGUSR1)
        return object()

    signal.signal(signal.SIGUSR1, handler)
    face = FACES[kind](build)
    assert face.get() is face.peek()
    assert seen == [RecursiveBuildError], seen
