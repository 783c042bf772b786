"""The decorator: what it takes, what it refuses, and what it keeps of the factory."""

import copy
import inspect
import pickle
import weakref
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any, cast

import pytest

from plugin_utils import aio
from tests.aio.conftest import Run


@aio.lazy_singleton
async def documented() -> object:
    """Say what the client is for."""
    return object()


@pytest.mark.promise(15)
def test_accessor_looks_like_its_factory() -> None:
    """Name, module, docstring and signature are the factory's, and it is a coroutine function."""
    assert documented.__name__ == "documented"
    assert documented.__module__ == __name__
    assert documented.__doc__ == "Say what the client is for."
    assert inspect.signature(documented) == inspect.signature(documented.__wrapped__)
    assert inspect.iscoroutinefunction(documented)


@pytest.mark.promise(18)
def test_accessor_is_copied_by_reference() -> None:
    """Pickle and deepcopy treat an accessor as they treat a function."""
    assert pickle.loads(pickle.dumps(documented)) is documented  # noqa: S301 - our own bytes
    assert copy.deepcopy(documented) is documented


@pytest.mark.promise(18)
def test_slot_is_not_copied() -> None:
    """A copy of a slot would build a second instance, so there is none."""
    slot: aio.SingletonSlot[object] = aio.SingletonSlot(name="client")
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match=r"cannot copy or pickle <aio.SingletonSlot 'client'"):
            duplicate(slot)


def sync() -> object:
    """Return something at once."""
    return object()


async def generator() -> AsyncIterator[int]:
    """Yield something."""
    yield 1


@pytest.mark.promise(16)
@pytest.mark.parametrize("factory", [sync, generator, dict, lambda: None, partial(sync)])
def test_what_is_no_coroutine_function_is_refused(factory: Callable[..., Any]) -> None:
    """The error names the factory and the primitive for functions that await nothing."""
    with pytest.raises(TypeError, match=r"is no coroutine function, .* plugin_utils\.lazy_single"):
        aio.lazy_singleton(factory)


@pytest.mark.promise(16)
@pytest.mark.parametrize("wrong", ["token", None])
def test_what_is_no_function_is_refused(wrong: object) -> None:
    """The error shows the type and not the value, which may hold a secret. `None` is no marker."""
    with pytest.raises(TypeError, match=rf"needs a function, not '{type(wrong).__name__}'"):
        aio.lazy_singleton(cast("Any", wrong))


async def needs_url(url: str) -> str:
    """Connect."""
    return url


class Plugin:
    """Its method needs an instance."""

    async def connect(self) -> object:
        """Connect."""
        return object()


@pytest.mark.promise(16, 17)
@pytest.mark.parametrize(("factory", "missing"), [(needs_url, "url"), (Plugin.connect, "self")])
def test_factory_that_needs_an_argument_is_refused(
    factory: Callable[..., Any], missing: str
) -> None:
    """Methods too: the error names the argument and what to use instead."""
    with pytest.raises(TypeError, match=rf"{missing}.*aio\.SingletonSlot"):
        aio.lazy_singleton(factory)


class Connect:
    """A factory that is an object."""

    async def __call__(self) -> str:
        """Connect."""
        return "connected"


def test_other_forms_of_a_coroutine_function(run: Run) -> None:
    """A partial with all its arguments, and an object whose call is one, are taken too."""

    async def main() -> None:
        assert await aio.lazy_singleton(partial(needs_url, "ws://127.0.0.1"))() == "ws://127.0.0.1"
        assert await aio.lazy_singleton(Connect())() == "connected"

    run(main())


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"close": 7}, TypeError, "close must be a function"),
        ({"name": 7}, TypeError, "name must be a string, not 7"),
        ({"fork": "never"}, ValueError, "fork must be 'rebuild'"),
        ({"scope": "thread"}, ValueError, "scope must be 'loop' .* not 'thread'"),
        ({"fork": "keep"}, ValueError, "fork='keep' needs scope='process'"),
    ],
)
def test_options_are_checked_at_once(
    options: dict[str, Any], error: type[Exception], text: str
) -> None:
    """A wrong option is an error where it is written, not at the first fork or close."""
    with pytest.raises(error, match=text):
        aio.SingletonSlot(**options)


def test_slot_is_generic_at_run_time() -> None:
    """`SingletonSlot[Client]()` works, as it does for the slot of `plugin_utils`."""
    assert isinstance(aio.SingletonSlot[int](), aio.SingletonSlot)


def test_slot_can_be_referred_to_weakly() -> None:
    """As the slot of `plugin_utils` can: a registry of slots need not keep them alive."""
    slot: aio.SingletonSlot[int] = aio.SingletonSlot()
    assert weakref.ref(slot)() is slot


def test_repr_never_builds(run: Run) -> None:
    """The repr counts instances; it shows neither them nor the factory's arguments."""
    slot: aio.SingletonSlot[str] = aio.SingletonSlot(name="client")

    async def main() -> None:
        assert repr(slot) == "<aio.SingletonSlot 'client': 0 built>"
        await slot.get(needs_url, "secret")
        assert repr(slot) == "<aio.SingletonSlot 'client': 1 built>"

    run(main())


def test_public_names_are_complete() -> None:
    """`__all__` names what the package offers, and nothing else."""
    public = {
        name
        for name, each in vars(aio).items()
        if getattr(each, "__module__", "") and not name.startswith("_")
    }
    assert set(aio.__all__) == public
