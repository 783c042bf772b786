"""Code in C, and code that is not watched, that calls watched code back and then goes on."""

from __future__ import annotations

import functools
import re
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType, FunctionType

import pytest

from plugin_utils.testing.interleaving import ExplorerError, Model, explore
from plugin_utils.testing.interleaving._callbacks import Callbacks
from plugin_utils.testing.interleaving._called import note_call_of
from plugin_utils.testing.interleaving._points import table
from plugin_utils.testing.interleaving._readers import MISSING
from plugin_utils.testing.interleaving._touch import EVERYTHING, NAMES, NOTHING, Touch
from tests.interleaving.test_namespaces import Check, Functions, twice
from tests.interleaving.watching import failure


class Client:
    """Its constructor has a step: the other thread can have its turn there."""

    def __init__(self) -> None:
        self.open = True


def by_cache() -> tuple[Functions, Check]:
    """Found in a closure variable."""
    get = functools.cache(Client)
    return twice(lambda: get())  # noqa: PLW0108 - it is called from watched code


def by_lru_cache() -> tuple[Functions, Check]:
    """With a function of its own, and called with arguments that are unpacked."""

    @functools.lru_cache(maxsize=2)
    def get(_name: str) -> Client:  # plugin-utils: ignore[LS090] the explorer is to find it
        return Client()

    def use(*names: str) -> object:
        return get(*names)

    return twice(functools.partial(use, "work"))


def by_method() -> tuple[Functions, Check]:
    """The wrapper is bound to an instance."""

    class Plugin:
        @functools.cache  # noqa: B019 - looked at here
        def get(self) -> Client:  # plugin-utils: ignore[LS090] the explorer is to find it
            return Client()

    plugin = Plugin()
    return twice(lambda: plugin.get())  # noqa: PLW0108 - it is called from watched code


def by_defaultdict() -> tuple[Functions, Check]:
    """A factory is called by a look for a key."""
    clients: defaultdict[str, Client] = defaultdict(lambda: Client())  # noqa: PLW0108 - a function that is watched
    return twice(lambda: clients["work"])


def by_missing() -> tuple[Functions, Check]:
    """A dict asks its class for what it does not have."""

    class Clients(dict[str, Client]):
        def __missing__(self, key: str) -> Client:
            self[key] = made = Client()
            return made

    clients = Clients()
    return twice(lambda: clients["work"])


@pytest.mark.parametrize("model", [by_cache, by_lru_cache, by_method, by_defaultdict, by_missing])
def test_what_is_kept_after_a_callback_is_kept_late(model: Model) -> None:
    """Both threads find nothing, both build, and the C code keeps one after the other."""
    assert failure(model) == "two were built"


def test_two_builds_of_a_cache_are_counted() -> None:
    """The callback may be the only Python code that there is."""

    def model() -> tuple[Functions, Check]:
        built: list[int] = []

        @functools.cache
        def get() -> None:
            built.append(1)

        def check(_results: list[object]) -> None:
            assert len(built) == 1, f"built {len(built)}"

        return [lambda: get(), lambda: get()], check  # noqa: PLW0108 - called from watched code

    assert failure(model) == "built 2"


def test_a_thread_may_begin_in_c() -> None:
    """What a thread runs is not watched, but calls back: its first look is a step too."""

    def model() -> tuple[Functions, Check]:
        names: list[str] = []

        @functools.cache
        def get() -> object:
            names.append("built")
            return object()

        def look() -> int:
            return len(names)

        def check(results: list[object]) -> None:
            assert results[1] == 0, "looked late"

        return [get, look], check

    assert failure(model) == "looked late"


def test_a_thread_that_never_came_to_watched_code_is_refused() -> None:
    """The second call of a cache finds the result, and nothing of it was seen."""

    def model() -> tuple[Functions, Check]:
        return twice(functools.cache(Client))

    with pytest.raises(ExplorerError, match="T1 ran no code that is watched"):
        explore(model)


class WithCachedProperty:
    """Its client is built by the standard library: since 3.12 without a lock."""

    @functools.cached_property
    def client(self) -> object:  # plugin-utils: ignore[LS090] the explorer is to find it
        """Return the client."""
        return object()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="a cached property has a lock up to 3.11")
def test_code_that_is_not_watched_goes_on_after_a_callback() -> None:
    """A cached property keeps the client once its function has returned."""

    def model() -> tuple[Functions, Check]:
        owner = WithCachedProperty()
        return twice(lambda: owner.client)

    assert failure(model) == "two were built"
    assert failure(model, watch=[functools]) == "two were built"


def test_a_function_of_another_module_goes_on_after_a_callback() -> None:
    """What is stored between two callbacks of a foreign loop is seen by others."""

    def model() -> tuple[Functions, Check]:
        seen: list[str] = []

        def replace(found: re.Match[str]) -> str:
            seen.append(found[0])
            return ""

        def check(results: list[object]) -> None:
            assert results[1] != 1, "half of it"

        return [lambda: re.sub("[ab]", replace, "ab"), lambda: len(seen)], check

    assert failure(model) == "half of it"


def pairs() -> Generator[tuple[str, int]]:
    """Yield two items."""
    yield "a", 1
    yield "b", 2


def keep(pair: tuple[str, int]) -> tuple[str, int]:
    """Return what it is given."""
    return pair


@pytest.mark.parametrize("source", [pairs, lambda: map(keep, [("a", 1), ("b", 2)])])
def test_a_dict_is_half_full_between_two_callbacks(source: Callable[[], object]) -> None:
    """A generator, or a function that is mapped, runs while the dict is being filled."""

    def model() -> tuple[Functions, Check]:
        names: dict[str, int] = {}

        def fill() -> None:
            names.update(source())  # type: ignore[call-overload] # pairs, from either source

        def check(results: list[object]) -> None:
            assert results[1] != 1, "half full"

        return [fill, lambda: len(names)], check

    assert failure(model) == "half full"


def identical(value: int) -> int:
    """Return a key to sort by."""
    return value


def failing(value: int) -> int:
    """Return no key to sort by."""
    raise KeyError(value)


@pytest.mark.parametrize("key", [identical, failing])
def test_a_list_is_empty_while_it_is_sorted(key: Callable[[int], int]) -> None:
    """It is put back together when the last callback has ended, even by an error."""

    def model() -> tuple[Functions, Check]:
        numbers = [2, 1]

        def sort() -> None:
            numbers.sort(key=key)

        def check(results: list[object]) -> None:
            assert results[1] == 2, "empty"

        return [sort, lambda: len(numbers)], check

    assert failure(model, allow=(KeyError,)) == "empty"


def test_a_key_is_compared_before_it_is_kept() -> None:
    """Python code that compares two keys runs in the middle of `setdefault`."""

    class Key:
        compared = 0

        def __hash__(self) -> int:
            return 1

        def __eq__(self, other: object) -> bool:
            Key.compared += 1
            return True

    def model() -> tuple[Functions, Check]:
        Key.compared = 0
        key, names = Key(), {Key(): "old"}

        def clear() -> int:
            names.clear()
            return Key.compared

        def check(results: list[object]) -> None:
            assert results[1] != 1, "cleared in between"

        return [lambda: names.setdefault(key, "new"), clear], check

    assert failure(model) == "cleared in between"


class Plugin:
    """Is called in every direct way."""

    def __init__(self) -> None:
        self.name = "plugin"

    def __enter__(self) -> str:
        return self.name

    def __exit__(self, *_: object) -> None: ...

    def __call__(self) -> str:
        """Return the name."""
        return self.name


def test_a_direct_call_is_no_callback() -> None:
    """Functions, methods, constructors, partials and `with` blocks end without a step."""

    def use() -> object:
        plugin = Plugin()
        with plugin as name:
            functools.partial(plugin)()
            return name

    assert explore(lambda: ([use, use], lambda _results: None)).schedules == 1


def test_a_context_manager_of_the_library_may_go_on() -> None:
    """`contextmanager` is not watched: what it does when its generator has yielded is a step."""

    def model() -> tuple[Functions, Check]:
        seen: list[str] = []

        @contextmanager
        def opened() -> Generator[None]:
            seen.append("open")
            yield
            seen.append("closed")

        def use() -> None:
            with opened():
                pass

        def check(results: list[object]) -> None:
            assert results[1] != ["open"], "still open"

        return [use, lambda: list(seen)], check

    assert failure(model) == "still open"


def test_a_variable_of_a_closure_is_known() -> None:
    """A list that two threads have between them is told from the lists of each."""

    def model() -> tuple[Functions, Check]:
        def thread() -> Callable[[], int]:
            own: list[int] = []

            def use() -> int:
                own.append(1)
                return len(own)

            return use

        return [thread(), thread()], lambda _results: None

    assert explore(model).schedules == 1


def test_a_variable_of_a_closure_that_has_no_value_yet_is_unknown() -> None:
    """The function fails, and the explorer does not."""

    def model() -> tuple[Functions, Check]:
        held = [0]

        def use() -> int:
            return len(held)

        def check(results: list[object]) -> None:
            assert isinstance(results[0], NameError)

        cells = use.__closure__
        assert cells
        del cells[0].cell_contents
        return [use], check

    assert explore(model, allow=(NameError,)).proved


GOES_ON = Touch(NAMES, write=True)


class Watched:
    """Tells which steps are reported, called directly: no measuring sees what a tracer calls."""

    def __init__(self, *, ours: bool = False) -> None:
        self.seen: list[Touch] = []
        files, own = ({__file__}, set[str]()) if not ours else (set[str](), {__file__})
        self.callbacks = Callbacks(files, own, lambda _frame, touch: self.seen.append(touch))

    def end(self, frame: FrameType, called: object = None) -> None:
        """Report a frame's end; before that, what its caller has called."""
        caller = frame.f_back
        assert caller
        if called:
            starts = [at for at in table(caller.f_code).ends if at <= caller.f_lasti]
            self.callbacks.call(caller, max(starts), called, MISSING)
        self.callbacks.end(frame, None)


def test_what_is_called_tells_whether_something_goes_on() -> None:
    """A function that is called ends without a step, a callback does not."""

    def ends_after(called: object) -> list[Touch]:
        watched = Watched()

        def function() -> None:
            watched.end(sys._getframe(), called or function)

        function()
        return watched.seen

    assert ends_after(None) == []
    assert ends_after(len) == [NOTHING, GOES_ON]
    assert ends_after(functools.cache(keep)) == [Touch(NAMES, write=True), GOES_ON]
    assert ends_after(Plugin) == [GOES_ON]
    assert ends_after(Plugin().__enter__) == [GOES_ON]
    assert ends_after(functools.partial(Plugin().__call__)) == [GOES_ON]
    assert ends_after(functools.partial(keep, ("a", 1))) == [GOES_ON]
    assert ends_after(re.sub) == [EVERYTHING, GOES_ON]


def test_where_a_caller_stands_tells_whether_something_goes_on() -> None:
    """A `with` block, and the unpacking of a generator, do nothing afterwards; others do."""
    watched = Watched()

    class Owner:
        def __enter__(self) -> None:
            watched.end(sys._getframe())

        def __exit__(self, *_: object) -> None: ...

        def __add__(self, _other: int) -> int:
            watched.end(sys._getframe())
            return 1

    def letters() -> Generator[str]:
        frame = sys._getframe()
        assert frame.f_back
        assert isinstance(letters, FunctionType)
        note_call_of(frame.f_back, [letters], 0, frame.f_back.f_lasti)
        watched.end(frame)
        yield "a"

    with Owner():
        assert watched.seen == []
    assert [*letters()] == ["a"]
    assert watched.seen == []
    assert Owner() + 1
    assert watched.seen == [GOES_ON]
    watched.seen.clear()

    def replace(_found: re.Match[str]) -> str:
        watched.end(sys._getframe())
        return ""

    re.sub("a", replace, "a")
    assert watched.seen == [GOES_ON]


def test_a_function_of_threading_is_no_callback() -> None:
    """A queue that uses a condition goes on too, but its locks have steps of their own."""
    watched = Watched()

    def look() -> bool:
        watched.end(sys._getframe(1))
        return True

    condition = threading.Condition()
    with condition:
        assert condition.wait_for(look)
    assert watched.seen == []


def test_a_thread_that_begins_in_python_ends_without_a_step() -> None:
    """The explorer itself does nothing afterwards; the C code that it has called can."""
    watched = Watched(ours=True)
    frame = sys._getframe()

    def function() -> None:
        watched.end(sys._getframe())

    function()
    watched.callbacks.thread(frame, function)
    function()
    assert watched.seen == []
    watched.callbacks.thread(frame, functools.cache(function))
    function()
    assert watched.seen == [EVERYTHING, GOES_ON]
