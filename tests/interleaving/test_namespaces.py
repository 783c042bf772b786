"""Attributes and globals that are reached through their dict: still the same attributes."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest

from plugin_utils.testing.interleaving import Model, explore
from tests.interleaving.watching import failure

Functions = list[Callable[[], object]]
Check = Callable[[list[object]], None]

cached: object = None


class Plain:
    """An object with a `__dict__`."""

    client: object


class Slotted:
    """An object without a `__dict__`."""

    __slots__ = ("client",)

    client: object


class Lazy:
    """A descriptor that is asked only until the instance has the attribute."""

    def __get__(self, owner: object, _kind: object = None) -> object:
        owner.__dict__["client"] = made = object()
        return made


class WithDescriptor:
    """Its client is built by the descriptor."""

    client = Lazy()


class WithHook:
    """Its client is built where there is none."""

    def __getattr__(self, name: str) -> object:
        self.__dict__[name] = made = object()
        return made


def twice(use: Callable[[], object]) -> tuple[Functions, Check]:
    """Return a model's two threads, which must get the same."""

    def check(results: list[object]) -> None:
        assert results[0] is results[1], "two were built"

    return [use, use], check


def descriptor() -> tuple[Functions, Check]:
    """The instance's dict is filled by a descriptor."""
    owner = WithDescriptor()
    return twice(lambda: owner.client)


def hook() -> tuple[Functions, Check]:
    """The instance's dict is filled by `__getattr__`."""
    owner = WithHook()
    return twice(lambda: owner.client)


def item() -> tuple[Functions, Check]:
    """The attribute is looked for, and its item is written."""
    owner = Plain()

    def use() -> object:
        try:
            return owner.client
        except AttributeError:
            owner.__dict__["client"] = object()
        return owner.client

    return twice(use)


def dict_in_a_variable() -> tuple[Functions, Check]:
    """The dict goes by a name of its own."""

    def use(owner: Plain) -> object:
        names = owner.__dict__
        if not hasattr(owner, "client"):
            names["client"] = object()
        return owner.client

    return twice(functools.partial(use, Plain()))


def update() -> tuple[Functions, Check]:
    """A method of the dict writes all that it is given."""
    owner = Plain()

    def use() -> object:
        if getattr(owner, "client", None) is None:
            owner.__dict__.update(client=object())
        return owner.client

    return twice(use)


def membership() -> tuple[Functions, Check]:
    """The dict is asked, and the attribute is written."""
    owner = Plain()

    def use() -> object:
        if "client" not in owner.__dict__:
            owner.client = object()
        return owner.client

    return twice(use)


def by_setattr() -> tuple[Functions, Check]:
    """The dict that `vars` returns is asked, and `setattr` writes."""
    owner = Plain()

    def use() -> object:
        if "client" not in vars(owner):
            setattr(owner, "client", object())  # noqa: B010 - looked at here
        return owner.client

    return twice(use)


def by_object() -> tuple[Functions, Check]:
    """The attribute is set past the class."""
    owner = Plain()
    put = owner.__setattr__

    def use() -> object:
        if "client" not in owner.__dict__:
            put("client", object())
        return owner.client

    return twice(use)


def of_a_function() -> tuple[Functions, Check]:
    """A function has a dict too."""

    def get() -> None: ...

    def use() -> object:
        if getattr(get, "client", None) is None:
            get.__dict__["client"] = object()
        return getattr(get, "client")  # noqa: B009 - mypy knows no attributes of functions

    return twice(use)


def of_a_module() -> tuple[Functions, Check]:
    """A global is an item of the dict that `globals` returns."""
    globals()["cached"] = None

    def use() -> object:
        if cached is None:
            names = globals()
            names["cached"] = object()
        return cached

    return twice(use)


def of_a_slot() -> tuple[Functions, Check]:
    """What a slot holds is set by the slot's descriptor."""
    owner = Slotted()
    put = vars(Slotted)["client"].__set__

    def use() -> object:
        try:
            return owner.client
        except AttributeError:
            put(owner, object())
        return owner.client

    return twice(use)


@pytest.mark.parametrize(
    "model",
    [
        descriptor,
        hook,
        item,
        dict_in_a_variable,
        update,
        membership,
        by_setattr,
        by_object,
        of_a_function,
        of_a_module,
        of_a_slot,
    ],
)
def test_a_write_through_a_dict_is_a_write_of_the_attribute(model: Model) -> None:
    """Each of these tests first and writes second, the one by name and the other by key."""
    assert failure(model, bound=0) is None
    assert failure(model, bound=1) == "two were built"
    assert failure(model) == "two were built"


def test_the_listing_shows_the_switch_between_test_and_write() -> None:
    """The other thread has its turn after the test: the lines stand where they can fail."""
    listing = explore(membership).listing
    assert listing is not None
    lines = [line for line in listing.splitlines() if "client" in line]
    tests = [place for place, line in enumerate(lines) if "not in" in line]
    writes = [place for place, line in enumerate(lines) if "owner.client = " in line]
    assert max(tests) < max(writes)
    assert min(tests) < min(writes)
    assert "not in" in lines[1], listing


def test_a_dict_is_met_by_no_attribute_of_another_owner() -> None:
    """A dict of the plugin's own costs no schedules."""

    def model() -> tuple[Functions, Check]:
        owner = Plain()

        def use(names: dict[str, object]) -> None:
            names["client"] = 1

        def look(owner: Plain) -> None:
            owner.client = None

        functions: Functions = [functools.partial(use, {}), functools.partial(look, owner)]
        return functions, lambda _results: None

    assert explore(model).schedules == 1


def test_another_dict_changes_all_attributes() -> None:
    """An assignment to `__dict__` is a write of every name."""

    def model() -> tuple[Functions, Check]:
        owner = Plain()
        owner.client = "old"

        def swap() -> None:
            owner.__dict__ = {"client": "new"}

        def check(results: list[object]) -> None:
            assert results[0] == "old", "swapped"

        return [lambda: owner.client, swap], check

    assert failure(model) == "swapped"


def test_the_order_of_attributes_counts_once_somebody_looks() -> None:
    """Two new attributes are independent, unless the dict is iterated over."""

    def model() -> tuple[Functions, Check]:
        owner = Plain()
        names = owner.__dict__

        def one() -> None:
            names["one"] = 1

        def two() -> None:
            names["two"] = 2

        def check(results: list[object]) -> None:
            assert results[2] != ["two", "one"], "the other order"

        return [one, two, lambda: list(names)], check

    assert failure(model) == "the other order"
