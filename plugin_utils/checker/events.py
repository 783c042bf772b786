"""What the walk of a function yields: reads, tests and stores of slots, with the locks held."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from plugin_utils.checker.definitions import Function
from plugin_utils.checker.slots import Slot

__all__ = ("Call", "Flow", "Read", "Region", "Regions", "Return", "Store", "Test")


@dataclass(frozen=True, eq=False, slots=True)
class Region:
    """One stretch of code that holds a lock. Two `with` blocks of one lock are two regions."""

    lock: ast.expr
    is_new: bool
    """Whether the call that takes the lock also made it, so that nobody else can hold it."""
    is_lazy: bool = False
    """Whether the lock comes from a function that makes it on first use: there can be two."""
    is_of_instance: bool = False
    """Whether each instance makes one for itself."""


Regions = frozenset[Region]


@dataclass(frozen=True, eq=False, slots=True)
class Read:
    """A look at a slot: the locks that were held, and how many awaits came before."""

    slot: Slot
    regions: Regions
    awaits: int
    is_alias: bool = False
    """Whether the value came from a local that the slot was read into before."""


@dataclass(frozen=True, eq=False, slots=True)
class Test:
    """A test that found a slot empty; the code that it dominates runs only then."""

    read: Read
    node: ast.expr
    is_of_all: bool = False
    """Whether a container was found to hold nothing at all, and so none of its items."""

    @property
    def slot(self) -> Slot:
        """The slot that was tested."""
        return self.read.slot


@dataclass(frozen=True, eq=False, slots=True)
class Store:
    """A store to a slot, with everything that let control get there."""

    slot: Slot
    node: ast.stmt | ast.expr
    value: ast.expr
    regions: Regions
    awaits: int
    tests: tuple[Test, ...]
    """All tests that dominate the store, of this slot and of others, outermost first."""
    rest: tuple[ast.stmt, ...]
    """The statements that follow in the same block."""
    flags: frozenset[Slot] = frozenset()
    """The slots that stand for this one: each says, after the store, that it is filled."""

    @property
    def own_tests(self) -> tuple[Test, ...]:
        """The tests of the stored slot: of itself, of its container, of a flag for it."""
        return tuple(test for test in self.tests if self._is_tested_by(test))

    def _is_tested_by(self, test: Test) -> bool:
        if test.is_of_all and self.slot.is_item and test.slot == self.slot.container:
            return True
        return test.slot == self.slot or test.slot in self.flags


@dataclass(frozen=True, eq=False, slots=True)
class Return:
    """A value that is returned, with the slot that it was read from."""

    value: ast.expr
    read: Read | None


@dataclass(frozen=True, eq=False, slots=True)
class Call:
    """A call, with the locks held and the tests that dominate it."""

    node: ast.Call
    caller: Function
    regions: Regions
    tests: tuple[Test, ...]


@dataclass(slots=True, eq=False)
class Flow:
    """What the walk of one function found, each list in the order of execution."""

    function: Function
    stores: list[Store] = field(default_factory=list)
    returns: list[Return] = field(default_factory=list)
    tests: list[Test] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    drops: list[tuple[Slot, ast.stmt]] = field(default_factory=list)
    """Where a slot is emptied by `del`, `clear` or `pop`."""
    defaults: list[Store] = field(default_factory=list)
    """What `setdefault` stores: atomically, but built by every caller."""
    calls: list[Call] = field(default_factory=list)
    """Filled only if the walk was asked for calls."""
