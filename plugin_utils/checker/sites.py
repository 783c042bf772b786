"""Where a slot is filled lazily, and how that is guarded."""

from __future__ import annotations

import ast
from functools import cached_property

from plugin_utils.checker.events import Flow, Read, Regions, Store
from plugin_utils.checker.makers import Makes
from plugin_utils.checker.slots import Slot
from plugin_utils.checker.syntax import last_name, wholes

__all__ = ("Site", "is_real")


# What is only started lives for its effect; nobody is handed the loser.
_STARTS = frozenset({"daemon", "join"})


def is_real(regions: Regions) -> bool:
    """Tell whether one of `regions` holds a lock that another thread can hold too."""
    return any(not region.is_new and not region.is_lazy for region in regions)


class Site:
    """One store that fills a slot because a test found it empty."""

    def __init__(self, store: Store, flow: Flow, makes: Makes) -> None:
        """Describe `store`, found in `flow`, which puts what `makes` says into its slot."""
        self.store = store
        self.flow = flow
        self.makes = makes
        self.function = flow.function
        self.slot = store.slot

    @property
    def is_resource(self) -> bool:
        """Whether two of what is built are one too many."""
        return self.makes is Makes.RESOURCE

    @cached_property
    def is_locked(self) -> bool:
        """Whether one region of a lock holds both a test of the slot and the store."""
        return any(map(self._is_enough, self._common))

    @property
    def is_locked_by_instance(self) -> bool:
        """Whether the only such lock is the instance's, and the slot is shared by all of them."""
        return not self.is_locked and any(map(is_real, self._common))

    @property
    def locks(self) -> frozenset[str]:
        """The names of the locks that hold a test of the slot and the store."""
        regions = (region for common in self._common for region in common)
        return frozenset(last_name(region.lock) for region in regions)

    @property
    def _common(self) -> list[Regions]:
        """For each test of the slot, the regions that hold it and the store."""
        return [test.read.regions & self.store.regions for test in self.store.own_tests]

    def _is_enough(self, regions: Regions) -> bool:
        if self.slot.is_process_wide:
            regions = frozenset(region for region in regions if not region.is_of_instance)
        return is_real(regions)

    @property
    def has_lock(self) -> bool:
        """Whether the store, or a test of the slot, stands under a lock at all."""
        tests = self.store.own_tests
        return is_real(self.store.regions) or any(is_real(test.read.regions) for test in tests)

    @property
    def is_seen_unlocked(self) -> bool:
        """Whether a caller can look at the slot while the region of the store is held."""
        tests = self.store.own_tests
        return any(not is_real(test.read.regions & self.store.regions) for test in tests)

    @property
    def is_split(self) -> bool:
        """Whether an await stands between the last test and the store."""
        return self.store.awaits > max(test.read.awaits for test in self.store.own_tests)

    @property
    def keys(self) -> list[ast.expr]:
        """The keys under which an item is stored, also of the containers around it."""
        node = self.store.node
        targets = node.targets if isinstance(node, ast.Assign) and self.slot.is_item else []
        parts = (part for target in targets for part in wholes(target))
        return [part.slice for part in parts if isinstance(part, ast.Subscript)]

    @cached_property
    def local_names(self) -> frozenset[str]:
        """The locals that hold what is stored: `made` in `_slot = made`."""
        kept = [self.store.value]
        if isinstance(self.store.node, ast.Assign):
            kept += self.store.node.targets
        return frozenset(node.id for node in kept if isinstance(node, ast.Name)) - {self.slot.name}

    @cached_property
    def is_returned(self) -> bool:
        """Whether the function returns what it stored."""
        return any(self._is_it(found.value, found.read) for found in self.flow.returns)

    @cached_property
    def is_handed_out(self) -> bool:
        """Whether the function goes on with what it stored: returns it, or works with it."""
        if self.is_returned or any(map(self._is_kept, self.function.own_nodes)):
            return True
        end = self.store.node.end_lineno or self.store.node.lineno
        return any(self._uses(node) for node in self.function.own_nodes if _line(node) > end)

    def _is_kept(self, node: ast.AST) -> bool:
        """Tell whether `node` keeps the object in another place, too: `self.pool = made`."""
        match node:
            case ast.Assign(targets=[ast.Attribute() as target], value=ast.Name(id=name)):
                return name in self.local_names and target.attr != self.slot.name
            case _:
                return False

    def _is_it(self, value: ast.expr, read: Read | None) -> bool:
        return (read is not None and self._is_slot(read.slot)) or last_name(
            value
        ) in self.local_names

    def _is_slot(self, slot: Slot) -> bool:
        """Tell whether `slot` is that of the store: the only item of a box has any key."""
        return self.slot in {slot, slot.any_key} if slot.is_item else self.slot == slot

    def _uses(self, node: ast.AST) -> bool:
        """Tell whether `node` reads a part of the object, starting it aside."""
        match node:
            case ast.Attribute(value=ast.Subscript(value=value) | value, attr=name) if (
                isinstance(node.ctx, ast.Load) and name not in _STARTS
            ):
                return last_name(value) == self.slot.name or last_name(value) in self.local_names
            case ast.Subscript(value=ast.Name(id=name)):
                return name in self.local_names
            case (
                ast.Assign(value=ast.Subscript(value=value) | value)
                | ast.Call(func=ast.Subscript(value=value))
            ):
                return last_name(value) == self.slot.name
            case _:
                return False


def _line(node: ast.AST) -> int:
    line: int = getattr(node, "lineno", 0)
    return line
