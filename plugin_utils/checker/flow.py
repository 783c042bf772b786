"""How a function gets from the test of a slot to the store: what was tested, under which locks.

A function is walked once, block by block, in the order of execution. The walk carries what is
known at each statement: the tests that let control get here, the locks that are held, and the
locals that hold a slot's value. A branch gets a copy. A branch that leaves the block hands its
negated test to the statements after it, which is how an early return counts as a test.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from plugin_utils.checker.conditions import State, cases_of, inline_tests, read_of, tests_of
from plugin_utils.checker.definitions import Function
from plugin_utils.checker.events import Call, Flow, Region, Return, Store, Test
from plugin_utils.checker.exits import caught_by, flagged, leaves, missed_by, suppressed_by
from plugin_utils.checker.module import Module
from plugin_utils.checker.slots import item_of
from plugin_utils.checker.syntax import (
    alternatives,
    flat,
    last_line,
    makes_lock,
    nodes_in,
)

__all__ = ("walk",)

_CHOICES = (ast.BoolOp, ast.IfExp)
# Puts its last argument into a list, a set or a deque.
_ADDS = frozenset({"add", "append", "appendleft", "insert"})
_Block = Sequence[ast.stmt]


def walk(function: Function, module: Module, *, calls: bool = False) -> Flow:
    """Walk `function` and return what was found; `calls` also collects every call."""
    walker = _Walker(function, module, calls=calls)
    walker.block(function.node.body, State(function, module))
    walker.flow.stores = flagged(walker.flow.stores)
    return walker.flow


class _Walker:
    def __init__(self, function: Function, module: Module, *, calls: bool) -> None:
        self.flow = Flow(function)
        self._module = module
        self._collects_calls = calls
        self._looks_inside = calls or function.is_async
        self._own_locks: set[str] = set()

    def block(self, block: _Block, state: State) -> None:
        for index, statement in enumerate(block):
            self._statement(statement, block[index + 1 :], state)

    def _statement(self, node: ast.stmt, rest: _Block, state: State) -> None:
        match node:
            case ast.If():
                self._if(node, state)
            case ast.Assign(targets=targets, value=value):
                self._look_inside(value, state)
                self._assign(targets, value, node, rest, state)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._look_inside(value, state)
                self._assign([target], value, node, rest, state)
            case ast.Expr(value=value):
                self._look_inside(value, state)
                self._bare(value, node, rest, state)
            case ast.Return():
                self._return(node, state)
            case ast.With() | ast.AsyncWith():
                self._with(node, state)
            case ast.Try() | ast.TryStar():
                self._try(node, state)
            case ast.For() | ast.AsyncFor():
                self._look_inside(node.iter, state)
                state.awaits += isinstance(node, ast.AsyncFor)
                self._loop(node, (), state)
            case ast.While(test=test):
                self._look_inside(test, state)
                self._loop(node, tests_of(test, state)[0], state)
            case ast.Match():
                self._match(node, state)
            case _:
                self._by_name(node, rest, state)

    def _by_name(self, node: ast.stmt, rest: _Block, state: State) -> None:
        """Note what a statement does to names without an assignment: `del`, and an import."""
        match node:
            case ast.Delete(targets=targets):
                slots = map(state.slot, targets)
                self.flow.drops += [(slot, node) for slot in slots if slot is not None]
            case ast.Import() | ast.ImportFrom():
                self._import(node, rest, state)
            case _:
                pass

    def _import(self, node: ast.Import | ast.ImportFrom, rest: _Block, state: State) -> None:
        """Note the globals that an import inside the function fills: each is there from now on."""
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            if name in state.function.declared:
                value = ast.Constant(value=True)
                target = ast.Name(name, ast.Store())
                self._assign([target], value, node, rest, state)

    def _if(self, node: ast.If, state: State) -> None:
        self._look_inside(node.test, state)
        self._acquire_in(node.test, state)
        empty, full = tests_of(node.test, state)
        self.flow.tests += empty + full
        then, otherwise = state.branch(empty), state.branch(full)
        self._branches([(node.body, then), (node.orelse, otherwise)], state)
        if leaves(node.body):
            state.tests = otherwise.tests
        elif leaves(node.orelse):
            state.tests = then.tests

    def _match(self, node: ast.Match, state: State) -> None:
        self._look_inside(node.subject, state)
        of_cases, tests = cases_of(node, state)
        self.flow.tests += tests
        pairs = list(zip(node.cases, of_cases, strict=True))
        self._branches([(case.body, state.branch(own)) for case, own in pairs], state)
        if all(leaves(case.body) for case, own in pairs if not own):
            state.tests += tests

    def _branches(self, branches: list[tuple[list[ast.stmt], State]], state: State) -> None:
        for block, branch in branches:
            self.block(block, branch)
        state.join([branch for block, branch in branches if not leaves(block)])

    def _with(self, node: ast.With | ast.AsyncWith, state: State) -> None:
        held = state.regions
        for item in node.items:
            self._look_inside(item.context_expr, state)
            if self._module.is_lock(item.context_expr):
                state.regions |= {self._region(item.context_expr)}
        state.awaits += isinstance(node, ast.AsyncWith)
        missed = missed_by(node.body, suppressed_by(node), state)
        self.block(node.body, state)
        state.regions = held
        state.tests += missed if leaves(node.body) else ()

    def _region(self, lock: ast.expr) -> Region:
        own = isinstance(lock, ast.Name) and lock.id in self._own_locks
        region = Region(
            lock, is_new=own or makes_lock(lock), is_lazy=self._module.hands_out_lazy_lock(lock)
        )
        self.flow.regions.append(region)
        return region

    def _try(self, node: ast.Try | ast.TryStar, state: State) -> None:
        caught = [name for handler in node.handlers for name in caught_by(handler)]
        missed = missed_by(node.body, caught, state)
        body = state.branch()
        self.block(node.body, body)
        self.block(node.orelse, body)
        handlers = [(handler.body, state.branch(missed)) for handler in node.handlers]
        for block, branch in handlers:
            self.block(block, branch)
        ends = [branch for block, branch in handlers if not leaves(block)]
        has_left = leaves(node.body) or leaves(node.orelse)
        state.join(ends if has_left else [body, *ends])
        state.tests = body.tests + (missed if has_left else ())
        self.block(node.finalbody, state)

    def _loop(
        self, node: ast.For | ast.AsyncFor | ast.While, tests: tuple[Test, ...], state: State
    ) -> None:
        inner = state.branch(tests)
        self.block(node.body, inner)
        state.join([inner])
        self.block(node.orelse, state)

    def _assign(
        self,
        targets: list[ast.expr],
        value: ast.expr,
        node: ast.stmt,
        rest: _Block,
        state: State,
    ) -> None:
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
                if makes_lock(value):
                    self._own_locks.add(target.id)

    def _bare(self, value: ast.expr, node: ast.stmt, rest: _Block, state: State) -> None:
        match value:
            case ast.Call(
                func=ast.Name(id="setattr"), args=[owner, ast.Constant(value=str(name)), new]
            ):
                self._assign([ast.Attribute(owner, name, ast.Store())], new, node, rest, state)
            case ast.Call(
                func=ast.Attribute(value=owner, attr="update"),
                args=[ast.Dict(keys=[ast.expr() as key], values=[new])],
            ):
                self._assign([ast.Subscript(owner, key, ast.Store())], new, node, rest, state)
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
            case _:
                self._acquire_in(value, state)

    def _add(
        self, owner: ast.expr, new: ast.expr, node: ast.stmt, rest: _Block, state: State
    ) -> None:
        """Note an addition, but only to what was found to hold nothing: a list used as a box."""
        slot = item_of(owner, state.function, state.module)
        if slot is not None:
            store = Store(slot, node, new, state.regions, state.awaits, state.tests, tuple(rest))
            if any(test.is_of_all for test in store.own_tests):
                self.flow.stores.append(store)

    def _acquire_in(self, node: ast.expr, state: State) -> None:
        """Hold the lock from `lock.acquire()`, or from `if not lock.acquire(timeout=1): return`."""
        match node:
            case ast.Call(func=ast.Attribute(value=lock, attr="acquire")):
                state.regions |= {self._region(lock)}
            case ast.UnaryOp(operand=inner) | ast.Await(value=inner):
                self._acquire_in(inner, state)
            case _:
                pass

    def _return(self, node: ast.Return, state: State) -> None:
        if node.value is not None:
            self._look_inside(node.value, state)
            for value in alternatives(node.value):
                self.flow.returns.append(Return(value, read_of(value, state)))

    def _look_inside(self, expression: ast.expr, state: State) -> None:
        lines = self._module.inline_stores
        if lines and not lines.isdisjoint(range(expression.lineno, last_line(expression) + 1)):
            self._store_inside(expression, state)
        if not self._looks_inside:
            return
        for node in nodes_in([expression]):
            state.awaits += isinstance(node, ast.Await)
            if self._collects_calls and isinstance(node, ast.Call):
                self.flow.calls.append(Call(node, state.function, state.regions, state.tests))

    def _store_inside(self, expression: ast.expr, state: State) -> None:
        """Note the stores that are part of an expression, by `:=` or by `setdefault`."""
        nodes = nodes_in([expression])
        inline = (inline_tests(node, state) for node in nodes if isinstance(node, _CHOICES))
        tests = sum(inline, state.tests)
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
