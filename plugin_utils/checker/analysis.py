"""Everything the rules ask about one module: its lazy builds, its callers, who shares what."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from plugin_utils.checker.builders import makes_for
from plugin_utils.checker.definitions import Class, Function
from plugin_utils.checker.events import Call, Flow, Store
from plugin_utils.checker.flow import walk
from plugin_utils.checker.makers import Makes
from plugin_utils.checker.module import Module
from plugin_utils.checker.promises import promises_value
from plugin_utils.checker.sites import Site, is_real
from plugin_utils.checker.slots import Slot
from plugin_utils.checker.syntax import calls_at_import, dotted, last_name
from plugin_utils.checker.words import words_of

__all__ = ("Analysis",)

# These run while a class is made, which is at import.
_CLASS_TIMES = frozenset({"__init_subclass__", "__set_name__"})
# Python calls these of a loader while it holds the lock of the module's import.
_IMPORT_TIMES = frozenset({"create_module", "exec_module", "load_module"})
# These run before anyone else can see the instance.
_PRIVATE_TIMES = _CLASS_TIMES | {"__init__", "__post_init__", "__setstate__", "model_post_init"}
_VALIDATORS = frozenset(
    "validator root_validator field_validator model_validator validates".split()
)

_LOCKING = frozenset("lock locked locking mutex serialized synchronised synchronized".split())


class Analysis:
    """The facts about one module that need more than one function to know."""

    def __init__(self, module: Module) -> None:
        """Walk every function of `module`."""
        self.module = module
        self.flows = [walk(function, module) for function in module.all_functions]
        self._resets: dict[Slot, list[Function]] = {}

    def flow_of(self, function: Function) -> Flow:
        """Return what the walk of `function` found."""
        return self.flows[self.module.all_functions.index(function)]

    def makes(self, store: Store, flow: Flow) -> Makes:
        """Return what `store` puts into its slot."""
        if last_name(store.value) == flow.function.receiver != "" and (
            store.slot.is_item or flow.function.name != "__init__"
        ):
            return Makes.VALUE  # an object that stores itself is made already
        made = makes_for(store.slot.name, store.value, flow.function, self.module)
        if promises_value(flow.function) and Site(store, flow, made).is_returned:
            return min(made, Makes.VALUE)
        return made

    @cached_property
    def sites(self) -> list[Site]:
        """The lazy builds, except where no second thread can be."""
        return [site for flow in self.flows for site in self._sites_of(flow)]

    def _sites_of(self, flow: Flow) -> Iterator[Site]:
        for store in flow.stores:
            if store.own_tests:
                makes = self.makes(store, flow)
                if makes > Makes.FLAG and not self.is_sheltered(flow.function, store.slot):
                    yield Site(store, flow, makes)

    @property
    def unlocked_sites(self) -> list[Site]:
        """The lazy builds of threaded code that no lock has anything to do with."""
        return [
            site
            for site in self.sites
            if not site.store.regions
            and not site.has_lock
            and not site.function.is_async
            and site.makes is not Makes.LOCK
        ]

    # Who calls.

    def is_sheltered(self, function: Function, slot: Slot) -> bool:
        """Tell whether no second thread can come to `slot` by way of `function`.

        Because the instance is not shared yet, or because a lock is held.
        """
        if function.name in _IMPORT_TIMES and function.owner is not None:
            return True
        early = _CLASS_TIMES if slot.is_process_wide else _PRIVATE_TIMES
        if function.name in early or function.name.endswith("_locked"):
            return True
        decorators = [name.rpartition(".")[2] for name in function.decorators]
        if any(name in _VALIDATORS or self._is_locking(name) for name in decorators):
            return True
        if any(self.module.is_lock(given) for given in function.given_to_decorators):
            return True
        return self.is_called_under_lock(function)

    def is_called_under_lock(self, function: Function) -> bool:
        """Tell whether `function` is private, and every caller in the module holds a lock."""
        return function in self._called_under_lock

    def _is_locking(self, decorator: str) -> bool:
        """Tell whether a decorator holds a lock around what it decorates."""
        if not _LOCKING.isdisjoint(words_of(decorator)):
            return True
        found = self.module.functions.get(decorator)
        items = [n for n in ast.walk(found.node) if isinstance(n, ast.withitem)] if found else []
        return any(self.module.is_lock(item.context_expr) for item in items)

    def calls_of(self, function: Function) -> list[Call]:
        """Return the calls, in this module, of something by the name of `function`."""
        return self._calls[function.name]

    @cached_property
    def _calls(self) -> dict[str, list[Call]]:
        found: dict[str, list[Call]] = defaultdict(list)
        for function in self.module.all_functions:
            for call in walk(function, self.module, calls=True).calls:
                found[last_name(call.node.func)].append(call)
        return found

    @cached_property
    def _called_under_lock(self) -> frozenset[Function]:
        """The private functions whose every caller in the module holds a lock."""
        private = [f for f in self.module.all_functions if f.is_private]
        sheltered: frozenset[Function] = frozenset()
        while True:
            more = frozenset(f for f in private if self._shelters(f, sheltered))
            if more == sheltered:
                return sheltered
            sheltered = more

    def _shelters(self, function: Function, sheltered: frozenset[Function]) -> bool:
        callers = [c for c in self.calls_of(function) if c.caller.name not in _PRIVATE_TIMES]
        return bool(callers) and all(
            is_real(call.regions)
            or call.caller in sheltered
            or call.caller.name.endswith("_locked")
            for call in callers
        )

    @cached_property
    def passed_on(self) -> frozenset[str]:
        """The names that are used otherwise than by a call: anyone may call what they stand for."""
        nodes = list(ast.walk(self.module.tree))
        called = {node.func for node in nodes if isinstance(node, ast.Call)}
        named = (n for n in nodes if isinstance(n, ast.Name | ast.Attribute) and n not in called)
        return frozenset(last_name(node) for node in named if isinstance(node.ctx, ast.Load))

    @cached_property
    def called_at_import(self) -> frozenset[str]:
        """The dotted names of what the module calls while it is imported."""
        return frozenset(dotted(c.func) for c in calls_at_import(self.module.tree.body))

    @cached_property
    def run_at_import(self) -> frozenset[Function]:
        """The functions that run while the module is imported, called by it or by one another."""
        found: set[Function] = set()
        todo = [f for c in calls_at_import(self.module.tree.body) for f in self._called(c, None)]
        while todo:
            function = todo.pop()
            if function not in found:
                found.add(function)
                calls = (node for node in function.own_nodes if isinstance(node, ast.Call))
                todo += [f for call in calls for f in self._called(call, function)]
        return frozenset(found)

    def _called(self, call: ast.Call, caller: Function | None) -> Iterator[Function]:
        """Yield the function of this module that `call` runs, unless it makes an instance."""
        owner, _, name = dotted(call.func).rpartition(".")
        is_own = caller is not None and owner == caller.receiver != ""
        found = caller.owner if caller and is_own else self.module.classes.get(owner)
        functions = found.methods if found else self.module.functions
        if (found or not owner) and name in functions:
            yield functions[name]

    # Who shares.

    def is_shared(self, slot: Slot) -> bool:
        """Tell whether there is evidence that more than one thread sees `slot`."""
        if slot.is_process_wide:
            return True
        owner = self.module.classes.get(slot.owner)
        return owner is not None and (self.is_made_at_import(owner) or owner.is_threaded)

    def is_made_at_import(self, owner: Class) -> bool:
        """Tell whether the module keeps an instance of `owner` under a name of its own."""
        return owner.name in self._made_at_import

    @cached_property
    def _made_at_import(self) -> frozenset[str]:
        """The names of what is called to bind something at module level."""
        bound = self.module.bindings.values()
        return frozenset(last_name(made.func) for made in bound if isinstance(made, ast.Call))

    # Who resets.

    def reset_of(self, slot: Slot, accessor: Flow) -> Function | None:
        """Return a function, other than the accessor, that empties `slot`."""
        if slot not in self._resets:
            self._resets[slot] = list(self._found_resets(slot))
        return next((f for f in self._resets[slot] if f is not accessor.function), None)

    def _found_resets(self, slot: Slot) -> Iterator[Function]:
        """Yield the functions that empty `slot` while others may look at it."""
        for one in dict.fromkeys([slot, slot.any_key]):
            yield from self._drops_of[one]
            for store, flow in self._stores_of[one]:
                if self.makes(store, flow) is Makes.NOTHING:
                    yield flow.function

    @cached_property
    def _drops_of(self) -> dict[Slot, list[Function]]:
        found: dict[Slot, list[Function]] = defaultdict(list)
        for flow in self._late_flows:
            for slot, _ in flow.drops:
                found[slot].append(flow.function)
        return found

    @cached_property
    def _stores_of(self) -> dict[Slot, list[tuple[Store, Flow]]]:
        found: dict[Slot, list[tuple[Store, Flow]]] = defaultdict(list)
        for flow in self._late_flows:
            for store in flow.stores:
                found[store.slot].append((store, flow))
        return found

    @property
    def _late_flows(self) -> list[Flow]:
        """What runs when others may look at the slots."""
        return [flow for flow in self.flows if flow.function.name not in _PRIVATE_TIMES]

    @cached_property
    def bare_stores(self) -> list[tuple[Store, Flow]]:
        """The stores of something built, in a function that does not test the slot itself."""
        tested = {test.slot for flow in self.flows for test in flow.tests}
        return [
            (store, flow)
            for flow in self.flows
            for store in flow.stores
            if store.slot in tested
            and not any(test.slot == store.slot for test in flow.tests)
            and self.is_shared(store.slot)
            and self.makes(store, flow) > Makes.FLAG
        ]

    def is_read_unlocked(self, store: Store) -> bool:
        """Tell whether some test of the stored slot does not stand in the region of the store."""
        if store.own_tests:
            return any(not is_real(t.read.regions & store.regions) for t in store.own_tests)
        return any(t.slot == store.slot and not t.read.regions for f in self.flows for t in f.tests)
