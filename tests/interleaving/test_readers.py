"""How operands are found in a frame, and calls judged: called directly, outside of any tracing."""

from __future__ import annotations

import os
import sys
import threading
from collections import defaultdict, deque
from collections.abc import Callable
from functools import partial
from types import CodeType, FrameType, FunctionType, SimpleNamespace

import pytest

from plugin_utils.testing.interleaving._called import forget, note_call_of
from plugin_utils.testing.interleaving._calls import call_touch
from plugin_utils.testing.interleaving._operands import PLAIN, UNKNOWN, Operand
from plugin_utils.testing.interleaving._points import CallSite, identity, table
from plugin_utils.testing.interleaving._races import Step
from plugin_utils.testing.interleaving._readers import MISSING, constant, reader
from plugin_utils.testing.interleaving._record import action
from plugin_utils.testing.interleaving._results import note_call, note_return, result_is_atom
from plugin_utils.testing.interleaving._touch import (
    EVERYTHING,
    ITEMS,
    NAMES,
    NOTHING,
    SOME,
    WHOLE,
    Touch,
)

SHARED = [1, 2]


class Slotted:
    """An object without a `__dict__`."""

    __slots__ = ("absent", "value")

    def __init__(self) -> None:
        self.value = 1


def find(operand: Operand, frame: FrameType) -> object:
    """Return what a reader finds."""
    return reader(operand, frame.f_code)(frame)


def local(name: str) -> Operand:
    """Return the operand that is a local variable."""
    return Operand("local", name)


def test_names_are_looked_up() -> None:
    """Locals, globals and builtins are found by their names."""
    here = [1]
    frame = sys._getframe()
    assert find(local("here"), frame) is here
    assert find(local("there"), frame) is MISSING
    assert find(Operand("global", "SHARED"), frame) is SHARED
    assert find(Operand("global", "len"), frame) is len
    assert find(Operand("builtin", "isinstance"), frame) is isinstance
    assert find(Operand("constant", 5), frame) == 5
    assert find(PLAIN, frame) == 0
    assert find(UNKNOWN, frame) is MISSING


def test_locals_beside_closure_variables_are_not_read_before_3_13() -> None:
    """Reading them would write an old snapshot back into the closure variables."""
    kept = [1]

    def function() -> object:
        beside = kept
        return find(local("beside"), sys._getframe()) if beside else None

    assert function() is (kept if sys.version_info >= (3, 13) else MISSING)


def test_attributes_are_looked_up_without_running_code() -> None:
    """In the instance's dict or its slots; a property is left alone."""

    class Watched(SimpleNamespace):
        @property
        def computed(self) -> int:
            raise AssertionError

    slotted = Slotted()
    watched = Watched(inner=slotted)
    frame = sys._getframe()
    inner = Operand("attribute", "inner", local("watched"))
    assert find(inner, frame) is slotted
    assert find(Operand("attribute", "value", inner), frame) == 1
    assert find(Operand("attribute", "absent", inner), frame) is MISSING
    assert identity(slotted) == id(slotted)
    assert find(Operand("attribute", "computed", local("watched")), frame) is MISSING
    assert watched.inner is slotted


def test_a_closure_variable_is_known_if_it_is_known_what_runs() -> None:
    """The caller's last call tells the function, and the function has the cells."""
    kept = [1]

    def function() -> list[object]:
        frame = sys._getframe()
        caller = frame.f_back
        assert caller
        assert isinstance(function, FunctionType)
        free = Operand("free", "kept")
        found = [find(free, frame)]
        note_call_of(caller, [function])
        found.append(find(free, frame))
        forget(caller)
        return found if kept else []

    assert function() == [MISSING, kept]


def test_an_argument_that_a_closure_uses_is_known_if_nobody_assigns_to_it() -> None:
    """A snapshot of the variables that is written back changes nothing then."""

    def function(given: list[int]) -> tuple[object, Callable[[], object]]:
        return find(Operand("free", "given"), sys._getframe()), lambda: given

    def assigning(given: list[int]) -> tuple[object, Callable[[], object]]:
        found = find(Operand("free", "given"), sys._getframe())
        given = [*given]
        return found, lambda: given

    items = [1]
    assert function(items)[0] is items
    assert assigning(items)[0] is (items if sys.version_info >= (3, 13) else MISSING)


def test_a_closure_variable_without_a_value_is_unknown() -> None:
    """It has been deleted, or not been assigned yet."""
    kept = [1]

    def function() -> object:
        frame = sys._getframe()
        caller, cells = frame.f_back, function.__closure__
        assert isinstance(function, FunctionType)
        assert caller
        assert cells
        note_call_of(caller, [function])
        del cells[frame.f_code.co_freevars.index("kept")].cell_contents
        found = find(Operand("free", "kept"), frame)
        forget(caller)
        return kept if found is not MISSING else found

    assert function() is MISSING


def test_items_are_looked_up_in_lists_and_tuples() -> None:
    """Only there is no code run, and only places that there are."""
    items, table_ = [7], {0: 7}
    frame = sys._getframe()
    zero, nine = Operand("constant", 0), Operand("constant", 9)
    assert find(Operand("item", None, local("items"), zero), frame) == 7
    assert find(Operand("item", None, local("items"), nine), frame) is MISSING
    assert find(Operand("item", None, local("table_"), zero), frame) is MISSING
    assert items[0] == table_[0]


def test_results_are_known_by_their_function_or_their_return() -> None:
    """A number was returned if nothing else can be, or if that was seen."""
    frame = sys._getframe()
    result = Operand("result", None, Operand("global", "os"))
    assert find(result, frame) is MISSING

    def returns(value: object) -> None:
        note_return(sys._getframe(), value)

    returns(1)
    assert result_is_atom(frame)
    assert find(result, frame) == 0
    returns([])
    assert not result_is_atom(frame)
    returns(1)
    note_call()
    assert not result_is_atom(frame)
    getpid = os.getpid
    assert find(Operand("result", None, local("getpid")), frame) == 0
    assert getpid()


def site(first: object = MISSING, second: object = MISSING) -> CallSite:
    """Return a call with known arguments."""
    return CallSite("CALL", 0, constant(first), constant(second))


LIST: list[int] = []
DICT: dict[str, int] = {}
OWNER = SimpleNamespace()
ADDING: defaultdict[str, list[int]] = defaultdict(list)


@pytest.mark.parametrize(
    ("function", "owner", "call", "touch"),
    [
        (isinstance, MISSING, site(LIST), NOTHING),
        (threading.get_ident, threading, site(), NOTHING),
        (KeyError, MISSING, site(LIST), NOTHING),
        (Slotted, MISSING, site(LIST), NOTHING),
        (tuple, MISSING, site(LIST), Touch(ITEMS, write=False, of=id(LIST))),
        (len, MISSING, site(LIST), Touch(ITEMS, write=False, of=id(LIST))),
        (getattr, MISSING, site(OWNER, "x"), Touch("x", write=False, of=identity(OWNER))),
        (setattr, MISSING, site(OWNER, "x"), Touch("x", write=True, of=identity(OWNER))),
        (setattr, MISSING, site(OWNER), EVERYTHING),
        (vars, MISSING, site(OWNER), EVERYTHING),
        (print, sys, site(), Touch(NAMES, write=True)),
        (CallSite, MISSING, site(), NOTHING),
        (partial(print), MISSING, site(), Touch(NAMES, write=True)),
        (LIST.append, LIST, site(1), Touch(ITEMS, write=True, of=id(LIST))),
        (DICT.get, DICT, site("a"), Touch("a", write=False, of=id(DICT), key="a")),
        (DICT.pop, DICT, site(LIST), Touch(NAMES, write=True, of=id(DICT), key=SOME)),
        (DICT.keys, DICT, site(1), Touch(NAMES, write=False, of=id(DICT), key=WHOLE)),
        (DICT.update, DICT, site(LIST), Touch(NAMES, write=True)),
        (dict.fromkeys, dict, site(LIST), Touch(NAMES, write=True)),
        (ADDING.__getitem__, ADDING, site("a"), Touch(NAMES, write=True, of=id(ADDING), key=SOME)),
        (deque, MISSING, site(LIST), Touch(ITEMS, write=False, of=id(LIST))),
        (setattr, MISSING, site(OWNER, "__dict__"), Touch(NAMES, write=True)),
        (",".join, ",", site(LIST), Touch(ITEMS, write=False, of=id(LIST))),
        (OWNER.__setattr__, OWNER, site("x"), EVERYTHING),
    ],
)
def test_a_call_is_judged_by_what_is_called(
    function: object, owner: object, call: CallSite, touch: Touch
) -> None:
    """Known builtins are told apart; others may write to any container."""
    assert call_touch(function, owner, call, sys._getframe()) == touch


def test_points_are_judged_by_what_the_frame_holds() -> None:
    """The same opcodes as a tracer would see them, evaluated in a frame of this thread."""

    def function(items: list[int], other: list[int], number: int) -> FrameType:
        if items == other or number == 1 or number * number or number + items[0]:
            SHARED[number] = items[0]
            items += other
        return sys._getframe()

    frame = function([1], [2], 1)
    seen = {toucher(frame) for toucher in table(function.__code__).points.values()}
    assert NOTHING in seen
    assert Touch(NAMES, write=False, key=SOME) in seen
    assert Touch(ITEMS, write=True, of=id(SHARED), key=SOME) in seen
    assert Touch(ITEMS, write=True, key=SOME) in seen


def test_a_key_tells_what_an_unknown_container_can_be() -> None:
    """A list takes no text as a key, and a `__dict__` nothing else. Others could be either."""
    table_: dict[object, int] = {"a": 1, 1: 1, None: 1}

    def function() -> FrameType:
        assert table_["a"] == table_[1]
        return sys._getframe()

    frame = function()
    seen = {toucher(frame) for toucher in table(function.__code__).points.values()}
    assert Touch("a", write=False, of=None, key="a") in seen
    assert Touch(ITEMS, write=False, of=None, key=SOME) in seen


def test_a_name_that_is_no_global_can_be_a_builtin() -> None:
    """Somebody can change it there, or put a global before it."""
    frame = sys._getframe()
    names = {toucher(frame) for toucher in table(find.__code__).points.values()}
    assert Touch("reader", write=False, of=id(globals())) in names
    here = {toucher(frame) for toucher in table(frame.f_code).points.values()}
    assert Touch("id", write=False, of=None) in here

    class Body:
        inside = 1

    body = next(c for c in frame.f_code.co_consts if getattr(c, "co_name", "") == "Body")
    assert Touch("inside", write=True) in {t(frame) for t in table(body).points.values()}
    assert Body.inside


def test_a_call_with_unpacked_arguments_is_a_call() -> None:
    """It has an opcode of its own."""

    def function(*numbers: int) -> int:
        return max(*numbers)

    sites = table(function.__code__).calls.values()
    assert [site.opcode for site in sites] == ["CALL_FUNCTION_EX"]
    assert function(1, 2) == 2


def test_a_record_tells_where_something_was_done() -> None:
    """The place, and how deep in calls it is."""
    frame = sys._getframe()
    outer = action(0, frame, Step(NOTHING, "reads"), matters=False)

    def deeper() -> CodeType:
        inner = action(0, sys._getframe(), Step(NOTHING, "reads"), matters=True)
        assert inner.depth == outer.depth + 1
        assert inner.spot != outer.spot
        return inner.code

    assert deeper() is deeper.__code__
    assert outer.line < frame.f_lineno
