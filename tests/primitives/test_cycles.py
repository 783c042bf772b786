"""Threads that each build what another one waits for."""

import pytest

from tests.support import child


def _circle(kind: str, size: int, through: str) -> None:
    """Let each of `size` threads build one singleton, and then want the next one's."""
    import threading
    from collections.abc import Callable

    from plugin_utils import BuildDeadlockError
    from plugin_utils.testing import run_together
    from tests.primitives.faces import FACES, Face

    all_build = threading.Barrier(size)
    first_try = [True] * size

    def factory(number: int) -> Callable[[], object]:
        def build() -> object:
            if not first_try[number]:  # by a thread that the error of another has let go on
                return number
            first_try[number] = False
            all_build.wait(60)
            following = faces[(number + 1) % size]
            return following.reset() if through == "reset" else following.get()

        build.__module__ = "plugin"
        build.__qualname__ = f"s{number}"
        return build

    faces: list[Face[object]] = [FACES[kind](factory(number)) for number in range(size)]
    numbers = iter(range(size))

    def call() -> object:
        try:
            faces[next(numbers)].get()
        except BuildDeadlockError as error:
            return error
        return None

    errors = [error for error in run_together(size, call, timeout=60) if error is not None]
    assert errors, "no thread was told"
    for error in errors:
        assert isinstance(error, BuildDeadlockError)
        print(*error.cycle)
        assert " -> ".join(error.cycle) in str(error)


@pytest.mark.promise(8)
@pytest.mark.parametrize("through", ["get", "reset"])
@pytest.mark.parametrize("size", [2, 3, 5])
def test_circle_of_threads_gets_an_error(kind: str, size: int, through: str) -> None:
    """At least one thread gets an error that names the whole circle, and nobody hangs."""
    ended = child.run(_circle, kind, size, through)
    for line in ended.output.splitlines():
        *names, last = line.split()
        assert last == names[0]
        first = names.index("plugin.s0")
        assert names[first:] + names[:first] == [f"plugin.s{number}" for number in range(size)]


def _random_graphs(seeds: int, shape: str) -> None:
    """Build the slots of random graphs from several threads at once.

    Without circles nobody may get an error. With circles nobody may hang.
    """
    import random
    import sys
    import time

    from plugin_utils import SingletonError, SingletonSlot
    from plugin_utils.testing import run_together

    threads, cyclic = 4, shape == "cyclic"
    told = 0
    sys.setswitchinterval(1e-5)
    for seed in range(seeds):
        choice = random.Random(seed)  # noqa: S311 - a graph that comes out the same again
        size = choice.randint(2, 7)
        slots = [SingletonSlot[object](name=f"s{number}") for number in range(size)]
        needs = {
            number: choice.sample(range(size if cyclic else number), choice.randint(0, number))
            for number in range(size)
        }
        starts = [choice.randrange(size) for _ in range(threads)]

        def build(number: int) -> object:
            time.sleep(0)  # lets another thread in
            return [slots[other].get(build, other) for other in needs[number]]  # noqa: B023

        turns = iter(starts)

        def call() -> bool:
            number = next(turns)  # noqa: B023 - called before the next graph is made
            try:
                slots[number].get(build, number)  # noqa: B023
                slots[number].reset()  # noqa: B023
            except SingletonError:
                if not cyclic:
                    raise
                return True
            return False

        told += sum(run_together(threads, call, timeout=60))
    print(told)


@pytest.mark.promise(8)
@pytest.mark.learned("one-lock-for-all-singletons")
def test_graph_without_circle_never_gets_an_error() -> None:
    """However threads race through hundreds of acyclic graphs, no circle is reported."""
    assert child.run(_random_graphs, 300, "acyclic", limit=30).output == "0\n"


@pytest.mark.promise(8)
def test_graph_with_circles_never_hangs() -> None:
    """However threads race through hundreds of cyclic graphs, all of them end."""
    assert int(child.run(_random_graphs, 300, "cyclic", limit=30).output) > 0
