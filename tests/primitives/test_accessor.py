"""What an accessor looks like, what it refuses, and how it is copied."""

import copy
import functools
import inspect
import pickle
from collections.abc import AsyncIterator, Callable, Iterator
from types import GenericAlias
from typing import cast
from unittest.mock import MagicMock

import pytest

import plugin_utils
from plugin_utils import KeyedSlots, SingletonSlot, lazy_singleton
from tests.primitives.faces import slot_of


@lazy_singleton
def client() -> list[str]:
    """Return the one client."""
    return ["client"]


class Client:
    """A class used as a factory."""

    url = "http://127.0.0.1:8000"

    def __init__(self, url: str = url) -> None:
        self.url = url

    def ask(self) -> str:
        """Ask something."""
        return self.url


def _variadic(*args: str, **options: str) -> object:
    return [args, options]


def _defaults(url: str = "", *, port: int = 8000) -> object:
    return [url, port]


@pytest.mark.promise(15)
def test_accessor_passes_for_its_factory() -> None:
    """Name, module, docstring, annotations, signature and source are the factory's."""
    factory = client.__wrapped__
    assert client.__name__ == client.__qualname__ == "client"
    assert client.__module__ == __name__
    assert client.__doc__ == "Return the one client."
    assert inspect.signature(client) == inspect.signature(factory)
    assert inspect.get_annotations(client) == {"return": list[str]}
    assert inspect.unwrap(client) is factory
    assert "@lazy_singleton" in inspect.getsource(client)


@pytest.mark.promise(15)
def test_attributes_of_the_factory_are_kept() -> None:
    """What another decorator has put on the factory stays, but not a `reset` of its own."""

    def factory() -> object:
        return object()

    vars(factory).update(tag="slow", reset="mine")
    accessor = lazy_singleton(factory)
    assert vars(accessor)["tag"] == "slow"
    assert accessor.reset() is False


@pytest.mark.promise(15)
def test_class_as_factory() -> None:
    """The accessor has the class's name and docstring, but not its methods."""
    accessor = lazy_singleton(Client)
    assert isinstance(accessor(), Client)
    assert accessor.__name__ == "Client"
    assert accessor.__doc__ == Client.__doc__
    assert not hasattr(accessor, "ask")
    assert not hasattr(accessor, "url")


@pytest.mark.promise(15)
@pytest.mark.parametrize(
    "factory",
    [
        pytest.param(functools.partial(Client, "http://127.0.0.1:9000"), id="partial"),
        pytest.param(Client().ask, id="bound method"),
        pytest.param((5).__str__, id="bound method of a builtin type"),
        pytest.param([1].copy, id="builtin method"),
        pytest.param(dict, id="builtin class"),
        pytest.param(_variadic, id="variadic"),
        pytest.param(_defaults, id="defaults"),
        pytest.param(MagicMock(), id="mock"),
        pytest.param(client, id="another accessor"),
    ],
)
def test_anything_callable_without_arguments_is_a_factory(factory: Callable[[], object]) -> None:
    """The decorator and the slot take it, and find a name for it."""
    accessor = lazy_singleton(factory)
    assert accessor() is accessor()
    slot: SingletonSlot[object] = SingletonSlot()
    assert slot.get(factory) is slot.peek()
    behind: SingletonSlot[object] = slot_of(accessor)
    assert repr(slot) == repr(behind)
    accessor.reset()
    client.reset()


@pytest.mark.promise(15)
@pytest.mark.parametrize(
    ("factory", "name"),
    [
        (functools.partial(functools.partial(Client), "secret"), f"{__name__}.Client"),
        ((5).__hash__, "int.__hash__"),
        (MagicMock(), "unittest.mock.MagicMock"),
        (dict, "builtins.dict"),
    ],
)
def test_unnamed_slot_goes_by_its_factorys_name(factory: Callable[[], object], name: str) -> None:
    """The name shows what is built, and never an argument."""
    slot: SingletonSlot[object] = SingletonSlot()
    assert repr(slot) == "<SingletonSlot 'SingletonSlot': empty>"
    slot.get(factory)
    assert repr(slot) == f"<SingletonSlot '{name}': built>"


@pytest.mark.promise(15)
def test_named_slot_keeps_its_name() -> None:
    """A name given is the name shown; `repr` builds nothing."""
    slot: SingletonSlot[Client] = SingletonSlot(name="clients")
    assert repr(slot) == "<SingletonSlot 'clients': empty>"
    slot.get(Client)
    assert repr(slot) == "<SingletonSlot 'clients': built>"


@pytest.mark.promise(15)
def test_slot_is_generic_at_run_time() -> None:
    """`SingletonSlot[Client]` can be written in an annotation, called, and subclassed."""
    assert isinstance(SingletonSlot[Client], GenericAlias)
    assert SingletonSlot[Client](name="clients").get(Client).url == Client.url

    class Clients(SingletonSlot[Client]):
        pass

    assert isinstance(Clients().get(Client), Client)


class _AsyncCall:
    async def __call__(self) -> object:
        raise AssertionError


async def _coroutine() -> object:
    raise AssertionError


def _generator() -> Iterator[object]:
    yield object()


async def _async_generator() -> AsyncIterator[object]:
    yield object()


@pytest.mark.promise(16)
@pytest.mark.learned("cache-of-a-coroutine")
@pytest.mark.parametrize(
    ("factory", "name"),
    [
        (_coroutine, "_coroutine"),
        (_generator, "_generator"),
        (_async_generator, "_async_generator"),
        (functools.partial(_coroutine), "_coroutine"),
        (_AsyncCall(), "_AsyncCall"),
        (_AsyncCall().__call__, "_AsyncCall.__call__"),
    ],
)
def test_factory_that_runs_later_is_refused(factory: Callable[[], object], name: str) -> None:
    """A coroutine or generator function is a TypeError when decorated, with a way out."""
    with pytest.raises(TypeError, match=rf"{name} is a coroutine or generator function.*\.aio\."):
        lazy_singleton(factory)


class _Plugin:
    def client(self) -> object:
        raise AssertionError


def _positional(url: str) -> object:
    raise AssertionError(url)


def _keyword(*, url: str) -> object:
    raise AssertionError(url)


def _keyword_among_others(
    first: int = 1, *rest: int, port: int = 2, url: str, **options: int
) -> object:
    raise AssertionError(first, rest, port, url, options)


@pytest.mark.promise(16, 17)
@pytest.mark.parametrize(
    ("factory", "argument"),
    [
        (_Plugin.client, "self"),
        (_positional, "url"),
        (_keyword, "url"),
        (_keyword_among_others, "url"),
        (functools.partial(_Plugin.client), "self"),
        (int.__add__, "self"),
    ],
)
def test_factory_that_needs_an_argument_is_refused(
    factory: Callable[..., object], argument: str
) -> None:
    """So is a method, or any function that needs an argument: the error names it."""
    with pytest.raises(TypeError, match=f"needs the argument '{argument}'.*SingletonSlot"):
        lazy_singleton(factory)


@pytest.mark.promise(17)
def test_decorated_method_is_refused_in_the_class_body() -> None:
    """The error comes when the class is made, not at the first call."""
    with pytest.raises(TypeError, match=r"Plugin\.client needs the argument 'self'"):

        class Plugin:  # pyright: ignore[reportUnusedClass] - making it is the test
            @lazy_singleton  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
            def client(self) -> object:
                raise AssertionError


@pytest.mark.promise(16)
def test_builtin_without_a_signature_is_taken_at_its_word() -> None:
    """What does not tell its parameters cannot be checked, and is called as it is."""
    with pytest.raises(ValueError, match="signature"):
        inspect.signature(type)
    with pytest.raises(TypeError):
        lazy_singleton(cast("Callable[[], object]", type))()


@pytest.mark.promise(16)
@pytest.mark.parametrize("factory", [5, "client", object(), None], ids=repr)
def test_what_is_no_factory_is_refused(factory: object) -> None:
    """Something that cannot be called is named by its type: by the decorator, and by `get`."""
    uncallable = cast("Callable[[], object]", factory)
    with pytest.raises(TypeError, match=f"not '{type(factory).__name__}'"):
        lazy_singleton(uncallable)
    slot: SingletonSlot[object] = SingletonSlot()
    with pytest.raises(TypeError, match=f"not an instance of builtins.{type(factory).__name__}"):
        slot.get(uncallable)
    assert slot.peek() is None


@pytest.mark.promise(18)
def test_accessor_is_copied_by_reference() -> None:
    """Pickle, copy and deepcopy give the accessor itself, as they do for a function."""
    assert copy.copy(client) is client
    assert copy.deepcopy(client) is client
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(client, protocol)) is client  # noqa: S301 - our own


@pytest.mark.promise(18)
@pytest.mark.parametrize("used", [False, True], ids=["never used", "built"])
def test_slot_is_not_copied(*, used: bool) -> None:
    """A copy of a slot would build a second instance: every way to make one is a TypeError."""
    slot: SingletonSlot[Client] = SingletonSlot(name="clients")
    if used:
        slot.get(Client)
    copies: list[Callable[[object], object]] = [copy.copy, copy.deepcopy]
    copies += [
        functools.partial(pickle.dumps, protocol=protocol)
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    ]
    for make_copy in copies:
        with pytest.raises(TypeError, match=r"cannot copy or pickle <SingletonSlot 'clients'"):
            make_copy(slot)


def _decorate(**options: object) -> object:
    return cast("Callable[..., Callable[..., object]]", lazy_singleton)(**options)(object)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"close": 5}, TypeError, "close must be a function .* not 5"),
        ({"fork": "never"}, ValueError, "fork must be .* not 'never'"),
        ({"on_failure": None}, ValueError, "on_failure must be .* not None"),
    ],
)
@pytest.mark.parametrize("target", [_decorate, SingletonSlot])
def test_wrong_option_is_told_when_it_is_given(
    target: Callable[..., object], options: dict[str, object], error: type[Exception], text: str
) -> None:
    """A bad option is an error at once, not in the process that forks or resets much later."""
    with pytest.raises(error, match=text):
        target(**options)


class AsyncClient:
    """A client that is closed with await."""

    async def aclose(self) -> None:
        """Close it."""

    def flush(self) -> Iterator[None]:
        """Send what is left, step by step."""
        yield


@pytest.mark.promise(10)
@pytest.mark.parametrize("target", [_decorate, SingletonSlot, KeyedSlots])
@pytest.mark.parametrize("close", [AsyncClient.aclose, AsyncClient.flush, AsyncClient().aclose])
def test_close_that_runs_later_is_refused(
    target: Callable[..., object], close: Callable[..., object]
) -> None:
    """A coroutine function would never be awaited, and the instance never closed."""
    with pytest.raises(TypeError, match=r"close: .*AsyncClient.\w+ is a coroutine or generator"):
        target(close=close)


@pytest.mark.promise(10)
def test_close_that_returns_a_coroutine_is_told() -> None:
    """What cannot be seen when the slot is made is an error of the reset, and of the last lease."""
    slot: SingletonSlot[AsyncClient] = SingletonSlot(close=lambda client: client.aclose())
    slot.get(AsyncClient)
    with pytest.raises(TypeError, match="the dropped instance would stay open"):
        slot.reset()
    with pytest.raises(TypeError, match=r"Use plugin_utils\.aio"), slot.lease(AsyncClient):
        slot.reset()


def test_name_of_a_slot_is_text() -> None:
    """A name that is no string is a TypeError."""
    with pytest.raises(TypeError, match="name must be a string, not 5"):
        SingletonSlot(name=cast("str", 5))


def test_exported_names_are_the_documented_ones() -> None:
    """`__all__` misses and adds nothing."""
    public = {
        name
        for name, value in vars(plugin_utils).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    assert isinstance(plugin_utils.__all__, tuple)
    assert public == set(plugin_utils.__all__)
    assert sorted(plugin_utils.__all__) == list(plugin_utils.__all__)


def test_unset_marker_shows_as_what_it_is() -> None:
    """The default of `expected` is readable in a signature."""
    assert "= <unset>, *" in str(inspect.signature(SingletonSlot[object]().reset))
