"""Which opcodes and calls are points, and what they are taken to touch."""

from __future__ import annotations

import json
import os
import sys
import threading
import weakref
from functools import partial
from types import SimpleNamespace

import pytest

from plugin_utils.testing.interleaving._canary import canary
from plugin_utils.testing.interleaving._points import identity, item_touch, table
from plugin_utils.testing.interleaving._readers import MISSING
from plugin_utils.testing.interleaving._touch import (
    ALONE,
    EVERYTHING,
    ITEMS,
    NAMES,
    NOTHING,
    SOME,
    WHOLE,
    Touch,
)
from tests.interleaving.watching import nobody, touches

SHARED: dict[object, object] = {}
NUMBER = 1


class Slotted:
    """An object without a `__dict__`."""

    __slots__ = ("absent", "items", "value")

    def __init__(self) -> None:
        self.items: list[int] = []
        self.value = 1


def of_items(seen: list[Touch]) -> list[Touch]:
    """Return the touches of containers only."""
    return [touch for touch in seen if touch.name in (ITEMS, NAMES)]


def of(container: object, key: object = WHOLE, *, write: bool = False) -> Touch:
    """Return the touch of a container."""
    return Touch(ITEMS, write, id(container), key)


def test_an_attribute_belongs_to_its_object() -> None:
    """A read or write of an attribute tells which object it is of."""

    def function(owner: Slotted) -> None:
        owner.value = owner.value

    owner = Slotted()
    assert touches(function, owner) == [
        Touch("value", write=False, of=id(owner)),
        Touch("value", write=True, of=id(owner)),
    ]


def test_an_attribute_of_a_local_variable_only_is_told_apart() -> None:
    """What an attribute of an unknown object belongs to could be anything of that name."""

    def function(owners: dict[str, Slotted]) -> object:
        return owners["a"].value

    assert Touch("value", write=False) in touches(function, {"a": Slotted()})


def test_an_attribute_of_an_attribute_is_told_apart() -> None:
    """The owner is looked up without running any code, in a slot or a dict."""

    def function(outer: SimpleNamespace) -> object:
        return outer.inner.items, outer.inner.nothing

    inner = SimpleNamespace(items=1, nothing=2)
    slotted = Slotted()
    seen = touches(function, SimpleNamespace(inner=inner))
    assert Touch("nothing", write=False, of=identity(inner)) in seen

    def deeper(owner: Slotted) -> object:
        return owner.items.sort

    assert Touch("sort", write=False, of=id(slotted.items)) in touches(deeper, slotted)


def test_classes_are_seen_through_others() -> None:
    """An instance reads its class's attributes: those are not told apart. Nor are a proxy's."""
    plain = nobody
    assert identity(Slotted) is None
    assert identity(weakref.proxy(plain)) is None
    assert identity(MISSING) is None


def test_objects_that_share_their_dict_are_one() -> None:
    """The Borg pattern: all instances have the same state."""

    class Plain:
        pass

    one, other = Plain(), Plain()
    assert identity(one) != identity(other)
    other.__dict__ = one.__dict__
    assert identity(one) == identity(other)


def test_a_global_is_an_item_of_its_module_and_a_closure_variable_stands_alone() -> None:
    """A global can be reached through the module's dict, a closure variable by its name only."""
    kept = 0

    def function() -> None:
        nonlocal kept
        kept = NUMBER

    assert touches(function) == [
        Touch("NUMBER", write=False, of=id(globals())),
        Touch("kept", write=True, key=ALONE),
    ]
    assert kept == 1


def test_a_dict_is_told_apart_by_its_keys() -> None:
    """Keys that are numbers or texts are known; others could be equal to any."""

    def function(table: dict[object, object], key: object) -> object:
        table[key] = 1
        found = key in table
        table.pop(key, None)
        return found

    table: dict[object, object] = {}
    assert [touch for touch in touches(function, table, "a") if touch.name != "pop"] == [
        Touch("a", write=True, of=id(table), key="a"),
        Touch("a", write=False, of=id(table), key="a"),
        Touch("a", write=True, of=id(table), key="a"),
    ]
    assert of_items(touches(function, table, 1))[:2] == [of(table, 1, write=True), of(table, 1)]
    assert {touch.key for touch in of_items(touches(function, table, Slotted()))} == {SOME}


def test_a_list_is_not_told_apart_by_its_places() -> None:
    """The first and the last item can be the same."""

    def function(items: list[int]) -> object:
        items.append(1)
        return items[0] + items[-1] + len(items)

    items: list[int] = []
    seen = of_items(touches(function, items))
    assert seen[:3] == [of(items, write=True), of(items, SOME), of(items, SOME)]


def test_what_has_no_parts_cannot_be_touched() -> None:
    """Tuples, texts and numbers never change."""
    assert item_touch((1, 2), 0, write=False) is NOTHING

    def function(values: tuple[int, ...], text: str) -> object:
        first, second = values
        return f"{text}{first}", text == "a", first + second, text.upper(), not text

    assert of_items(touches(function, (1, 2), "a")) == []


def test_a_truth_test_looks_into_a_container() -> None:
    """Whether a list is empty is a read of it; whether a call said so is not."""

    def function(items: object, number: int) -> object:
        if items or number or isinstance(items, dict):
            return 1
        return 2

    items: list[int] = []
    assert of_items(touches(function, items, 0)) == [of(items, SOME)]


def test_a_truth_test_of_a_result_looks_into_nothing_if_that_was_a_number() -> None:
    """The kind of a Python function's result is seen when it returns; getpid's is known."""

    def tell(found: object) -> object:
        return found

    def function(found: object) -> object:
        return 1 if tell(found) or os.getpid() == threading.get_ident() else 2

    assert of_items(touches(function, 1)) == []
    assert of_items(touches(function, [])) == [Touch(NAMES, write=False, key=SOME)]


def test_comparing_and_calculating_with_a_number_looks_into_nothing() -> None:
    """A list cannot be added to a number; but it can be multiplied by one, and compared."""

    def function(owner: Slotted, items: list[int], other: list[int]) -> object:
        return owner.value == 1, owner.value + 1, items * 2, items == other

    assert of_items(touches(function, Slotted(), [], [])) == [
        Touch(ITEMS, write=False, key=SOME),
        Touch(NAMES, write=False, key=SOME),
    ]


def test_an_item_of_a_list_is_known_right_after_it_was_taken() -> None:
    """Its attributes are told apart from those of other objects."""

    def function(owners: list[Slotted], place: int) -> object:
        return owners[0].value, owners[place]

    owner = Slotted()
    seen = touches(function, [owner], 0)
    assert Touch("value", write=False, of=id(owner)) in seen


def test_an_operand_that_others_can_replace_is_forgotten() -> None:
    """Between loading a global and using it, another thread can have its turn."""

    def function(key: Slotted) -> object:
        SHARED[key.value] = key.value
        return SHARED[key.value]

    seen = of_items(touches(function, Slotted()))
    assert [touch.of for touch in seen] == [None, None]


def test_a_variable_that_was_assigned_meanwhile_is_forgotten() -> None:
    """What was loaded is no longer what the variable holds."""

    def function(items: list[int]) -> object:
        return items[(items := [0, 1])[0]]

    assert of_items(touches(function, [5]))[-1] == Touch(NAMES, write=False, key=SOME)


def test_a_call_by_name_touches_that_attribute() -> None:
    """Getattr and setattr with a constant name are reads and writes of the attribute."""

    def function(owner: Slotted, name: str) -> None:
        if hasattr(owner, "value"):
            setattr(owner, "value", getattr(owner, "value"))  # noqa: B009, B010 - looked at here
        getattr(owner, name)

    owner = Slotted()
    seen = [touch for touch in touches(function, owner, "value") if touch.name == "value"]
    assert seen == [
        Touch("value", write=False, of=id(owner)),
        Touch("value", write=False, of=id(owner)),
        Touch("value", write=True, of=id(owner)),
        Touch("value", write=False, of=id(owner)),
    ]


def test_a_call_that_reaches_attributes_unseen_touches_everything() -> None:
    """Which attribute `vars(owner)` gives away cannot be told; nor what other code does."""
    owner = Slotted()

    def reveal() -> object:
        return vars(Slotted)

    def assign() -> None:
        owner.__setattr__("value", 2)

    def call() -> object:
        return json.dumps("a")

    def make() -> object:
        return threading.Thread()

    assert all(EVERYTHING in touches(function) for function in (reveal, assign, call, make))


def test_an_import_touches_everything() -> None:
    """A module that is imported runs."""

    def function() -> object:
        import json.tool

        return json.tool

    touchers = table(function.__code__).points.values()
    assert EVERYTHING in [toucher(sys._getframe()) for toucher in touchers]


def test_builtin_functions_read_what_they_are_given() -> None:
    """A builtin that only looks reads; one that nothing is known of may write to any container."""

    def function(items: list[int], text: str) -> None:
        sorted(items)
        list(items)
        text.join(items)  # type: ignore[arg-type] # nothing is joined: the list is empty
        items.copy()
        next(iter(items), None)
        partial(len, items)()
        object()
        repr(ValueError(items))

    items: list[int] = []
    seen = of_items(touches(function, items, ""))
    assert seen[:5] == [of(items)] * 5
    assert Touch(NAMES, write=True) in seen


def test_containers_are_read_whole_where_their_order_counts() -> None:
    """Iterating, slicing, unpacking and extending look at all items in order."""

    def function(items: list[int]) -> object:
        total = [item for item in items]  # noqa: C416 - a loop is looked at
        total.extend(items)
        first, *_ = items
        return [*items, first], items[0:1]

    items = [1]
    assert of(items) in of_items(touches(function, items))


def test_a_loop_is_not_followed() -> None:
    """After a jump nothing is known of the stack."""

    def function(items: list[int]) -> int:
        total = 0
        while items:
            total += items.pop() if items else 0
        return total

    assert of([1]).name == ITEMS
    assert of_items(touches(function, [1, 2]))


def test_the_canary_counts() -> None:
    """Alone, it loses nothing."""
    functions, check = canary()
    for function in functions:
        function()
    check([])


@pytest.mark.parametrize("value", [0, 1.5, "a", b"a", None, True, ..., (1,), range(2)])
def test_values_without_parts(value: object) -> None:
    """No opcode can look into something that another thread could change."""
    assert item_touch(value, WHOLE, write=False) is NOTHING
