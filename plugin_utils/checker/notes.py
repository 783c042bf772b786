"""What single statements and expressions do to slots and locks, noted for one function.

Which statements run, and after which tests, is the business of the walk.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from plugin_utils.checker.conditions import State, inline_tests, read_of
from plugin_utils.checker.definitions import Function
from plugin_utils.checker.events import Call, Flow, Region, Return, Store, Test
from plugin_utils.checker.module import Module
from plugin_utils.checker.slots import item_of
from plugin_utils.checker.syntax import (
    alternatives,
    dotted,
    flat,
    last_line,
    makes_own_lock,
    nodes_in,
)

__all__ = ("Notes",)

_CHOICES = (ast.BoolOp, ast.IfExp)
# Puts its last argument into a list, a set or a deque.
_ADDS = frozenset({"add", "append", "appendleft", "insert"})
# What `acquire` is given to wait until it has the lock.
_FOR_EVER = frozenset("True 1 -1 TIMEOUT_MAX threading.TIMEOUT_MAX".split())
_Block = Sequence[ast.stmt]


class Notes:
    """The notes on one function, which become its flow."""

    def __init__(self, flow: Flow, module: Module, *, calls: bool) -> None:
        """Begin with no notes in `flow`; `calls` also collects every call."""
        self.flow = flow
        self._module = module
        self._collects_calls = calls
        self._looks_inside = calls or flow.function.is_async
        self._own_locks: set[str] = set()

    def look_inside(self, expression: ast.expr, state: State) -> None:
        """Note what is inside an expression: stores, awaits and calls, as far as anyone asks."""
        lines = self._module.inline_stores
        if lines and not lines.isdisjoint(range(expression.lineno, last_line(expression) + 1)):
            self._store_inside(expression, state)
        if not self._looks_inside:
            return
        nodes = nodes_in([expression])
        state.awaits += sum(isinstance(node, ast.Await) for node in nodes)
        if self._collects_calls:
            tests = self._tests_inside(nodes, state)
            calls = (node for node in nodes if isinstance(node, ast.Call))
            self.flow.calls += [Call(c, state.function, state.regions, tests) for c in calls]

    def assign(
        self,
        targets: list[ast.expr],
        value: ast.expr,
        node: ast.stmt,
        rest: _Block,
        state: State,
    ) -> None:
        """Note the stores of an assignment, and what its locals now hold."""
        self.acquire_in(value, state)
        read = read_of(value, state)
        tests = state.tests + inline_tests(value, state)
        for target in flat(targets):
            slot = state.slot(target)
            if slot is not None:
                self.flow.stores.append(
                    Store(slot, node, value, state.regions, state.awaits, tests, tuple(rest))
                )
            elif isinstance(target, ast.Name):
                state.bind(target.id, read)
                state.keep(target.id, value)
                if makes_own_lock(value) or dotted(value) in self._own_locks:
                    self._own_locks.add(target.id)

    def bare(self, value: ast.expr, node: ast.stmt, rest: _Block, state: State) -> None:
        """Note what an expression alone does: stores and drops by method, takes locks."""
        match value:
            case ast.Call(
                func=ast.Name(id="setattr"), args=[owner, ast.Constant(value=str(name)), new]
            ):
                self.assign([ast.Attribute(owner, name, ast.Store())], new, node, rest, state)
            case ast.Call(
                func=ast.Attribute(value=owner, attr="update"),
                args=[ast.Dict(keys=[ast.expr() as key], values=[new])],
            ):
                self.assign([ast.Subscript(owner, key, ast.Store())], new, node, rest, state)
            case ast.Call(
                func=ast.Attribute(value=owner, attr="update"),
                keywords=[ast.keyword(arg=str(name), value=new)],
            ):
                item = ast.Subscript(owner, ast.Constant(name), ast.Store())
                self.assign([item], new, node, rest, state)
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=[*_, new]) if (
                name in _ADDS
            ):
                self._add(owner, new, node, rest, state)
            case ast.Call(func=ast.Attribute(value=owner, attr="clear" | "pop" | "popitem")):
                slot = item_of(owner, state.function, state.module)
                if slot is not None:
                    self.flow.drops.append((slot, node))
            case ast.Call(func=ast.Attribute(value=lock, attr="release")):
                text = ast.dump(lock)
                state.regions = frozenset(r for r in state.regions if ast.dump(r.lock) != text)
            case ast.Call(func=ast.Attribute(attr="acquire")) if _may_fail(value):
                pass  # nobody looks whether the lock is held
            case _:
                self.acquire_in(value, state)

    def returned(self, node: ast.Return, state: State) -> None:
        """Note what is returned, each alternative by itself."""
        if node.value is not None:
            self.look_inside(node.value, state)
            self.flow.tests += inline_tests(node.value, state)
            for value in alternatives(node.value):
                self.flow.returns.append(Return(value, read_of(value, state)))

    def by_name(self, node: ast.stmt, rest: _Block, state: State) -> None:
        """Note what a statement does to names without an assignment: `del`, and an import."""
        match node:
            case ast.Assert(test=test):
                self.acquire_in(test, state)
            case ast.Delete(targets=targets):
                slots = map(state.slot, targets)
                self.flow.drops += [(slot, node) for slot in slots if slot is not None]
            case ast.Import() | ast.ImportFrom():
                self._import(node, rest, state)
            case _:
                pass

    def region(self, lock: ast.expr) -> Region:
        """Return a new stretch of holding `lock`."""
        own = isinstance(lock, ast.Name) and lock.id in self._own_locks
        region = Region(
            lock,
            is_new=own or makes_own_lock(lock),
            is_lazy=self._module.hands_out_lazy_lock(lock),
            is_of_instance=_is_of_instance(lock, self.flow.function),
        )
        self.flow.regions.append(region)
        return region

    def acquire_in(self, node: ast.expr, state: State) -> None:
        """Hold the lock from `lock.acquire()`, or from `if not lock.acquire(timeout=1): return`."""
        match node:
            case ast.Call(func=ast.Attribute(value=lock, attr="acquire")):
                state.regions |= {self.region(lock)}
            case ast.Call(func=ast.Attribute(attr="enter_context"), args=[lock]):
                if self._module.is_lock(lock):
                    state.regions |= {self.region(lock)}
            case (
                ast.UnaryOp(operand=inner)
                | ast.Await(value=inner)
                | ast.NamedExpr(value=inner)
                | ast.Compare(left=inner)
            ):
                self.acquire_in(inner, state)
            case _:
                pass

    def _import(self, node: ast.Import | ast.ImportFrom, rest: _Block, state: State) -> None:
        """Note the globals that an import inside the function fills: each is there from now on."""
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            if name in state.function.declared:
                value = ast.Constant(value=True)
                target = ast.Name(name, ast.Store())
                self.assign([target], value, node, rest, state)

    def _add(
        self, owner: ast.expr, new: ast.expr, node: ast.stmt, rest: _Block, state: State
    ) -> None:
        """Note an addition, but only to what was found to hold nothing: a list used as a box."""
        slot = item_of(owner, state.function, state.module)
        if slot is not None:
            store = Store(slot, node, new, state.regions, state.awaits, state.tests, tuple(rest))
            if any(test.is_of_all for test in store.own_tests):
                self.flow.stores.append(store)

    @staticmethod
    def _tests_inside(nodes: Sequence[ast.AST], state: State) -> tuple[Test, ...]:
        """Return the tests that any part of an expression comes after, taken loosely."""
        inline = (inline_tests(node, state) for node in nodes if isinstance(node, _CHOICES))
        return sum(inline, state.tests)

    def _store_inside(self, expression: ast.expr, state: State) -> None:
        """Note the stores that are part of an expression, by `:=` or by `setdefault`."""
        nodes = nodes_in([expression])
        tests = self._tests_inside(nodes, state)
        for node in nodes:
            match node:
                case ast.NamedExpr(target=target, value=value):
                    slot, found = state.slot(target), self.flow.stores
                case ast.Call(
                    func=ast.Attribute(value=owner, attr="setdefault"), args=[key, value]
                ):
                    slot = item_of(owner, state.function, state.module, key)
                    found = self.flow.defaults
                case _:
                    continue
            if slot is not None:
                found.append(Store(slot, node, value, state.regions, state.awaits, tests, ()))


def _is_of_instance(lock: ast.expr, function: Function) -> bool:
    """Tell whether `lock` is one that each instance of the function's class makes for itself."""
    match lock:
        case ast.Attribute(value=ast.Name(id=name), attr=attr) if name == function.receiver:
            owner = function.owner
            return owner is not None and attr in owner.own_locks and not owner.is_singleton
        case _:
            return False


def _may_fail(acquire: ast.Call) -> bool:
    """Tell whether a lock can be left alone: `acquire(timeout=1)`, `acquire(blocking=False)`."""
    given = [*acquire.args, *(keyword.value for keyword in acquire.keywords)]
    return not all(ast.unparse(one) in _FOR_EVER for one in given)
