"""How a function gets from the test of a slot to the store: what was tested, under which locks.

A function is walked once, block by block, in the order of execution. The walk carries what is
known at each statement: the tests that let control get here, the locks that are held, and the
locals that hold a slot's value. A branch gets a copy. A branch that leaves the block hands its
negated test to the statements after it, which is how an early return counts as a test.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from plugin_utils.checker.conditions import State, inline_tests, read_of, tests_of
from plugin_utils.checker.definitions import Function
from plugin_utils.checker.events import Call, Flow, Region, Return, Store, Test
from plugin_utils.checker.module import Module
from plugin_utils.checker.slots import item_of
from plugin_utils.checker.syntax import alternatives, flat, last_name, makes_lock, nodes_in

__all__ = ("walk",)

_MISSES = frozenset({"KeyError", "LookupError", "AttributeError", "NameError"})
_Block = Sequence[ast.stmt]


def walk(function: Function, module: Module, *, calls: bool = False) -> Flow:
    """Walk `function` and return what was found; `calls` also collects every call."""
    walker = _Walker(function, module, calls=calls)
    walker.block(function.node.body, State(function, module))
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
            case ast.Match(subject=subject, cases=cases):
                self._look_inside(subject, state)
                self._branches([(case.body, state.branch()) for case in cases], state)
            case ast.Delete(targets=targets):
                self.flow.drops += [
                    (slot, node) for slot in map(state.slot, targets) if slot is not None
                ]
            case _:
                pass

    def _if(self, node: ast.If, state: State) -> None:
        self._look_inside(node.test, state)
        self._acquire_in(node.test, state)
        empty, full = tests_of(node.test, state)
        self.flow.tests += empty + full
        then, otherwise = state.branch(empty), state.branch(full)
        self._branches([(node.body, then), (node.orelse, otherwise)], state)
        if _leaves(node.body):
            state.tests = otherwise.tests
        elif _leaves(node.orelse):
            state.tests = then.tests

    def _branches(self, branches: list[tuple[list[ast.stmt], State]], state: State) -> None:
        for block, branch in branches:
            self.block(block, branch)
        state.join([branch for block, branch in branches if not _leaves(block)])

    def _with(self, node: ast.With | ast.AsyncWith, state: State) -> None:
        held = state.regions
        for item in node.items:
            self._look_inside(item.context_expr, state)
            if self._module.is_lock(item.context_expr):
                state.regions |= {self._region(item.context_expr)}
        state.awaits += isinstance(node, ast.AsyncWith)
        self.block(node.body, state)
        state.regions = held

    def _region(self, lock: ast.expr) -> Region:
        own = isinstance(lock, ast.Name) and lock.id in self._own_locks
        region = Region(lock, is_new=own or makes_lock(lock))
        self.flow.regions.append(region)
        return region

    def _try(self, node: ast.Try | ast.TryStar, state: State) -> None:
        missed = self._missed(node, state)
        body = state.branch()
        self.block(node.body, body)
        self.block(node.orelse, body)
        handlers = [(handler.body, state.branch(missed)) for handler in node.handlers]
        for block, branch in handlers:
            self.block(block, branch)
        ends = [branch for block, branch in handlers if not _leaves(block)]
        leaves = _leaves(node.body) or _leaves(node.orelse)
        state.join(ends if leaves else [body, *ends])
        state.tests = body.tests + (missed if leaves else ())
        self.block(node.finalbody, state)

    @staticmethod
    def _missed(node: ast.Try | ast.TryStar, state: State) -> tuple[Test, ...]:
        """Return the test that `try: return cache[key]` with `except KeyError` amounts to."""
        caught = {last_name(name) for handler in node.handlers for name in _types(handler)}
        if caught.isdisjoint(_MISSES):
            return ()
        match node.body:
            case (
                [ast.Return(value=ast.expr() as value), *_]
                | [ast.Assign(value=value), *_]
                | [ast.Expr(value=value), *_]
            ):
                read = read_of(value, state)
                return (Test(read, value),) if read else ()
            case _:
                return ()

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
                target = ast.Attribute(owner, name, ast.Store())
                self._assign([target], new, node, rest, state)
            case ast.Call(func=ast.Attribute(value=owner, attr="clear" | "pop" | "popitem")):
                slot = item_of(owner, state.function, state.module)
                if slot is not None:
                    self.flow.drops.append((slot, node))
            case ast.Call(func=ast.Attribute(value=lock, attr="release")):
                text = ast.dump(lock)
                state.regions = frozenset(r for r in state.regions if ast.dump(r.lock) != text)
            case _:
                self._acquire_in(value, state)

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
        if not self._looks_inside:
            return
        for node in nodes_in([expression]):
            state.awaits += isinstance(node, ast.Await)
            if self._collects_calls and isinstance(node, ast.Call):
                self.flow.calls.append(Call(node, state.function, state.regions, state.tests))


def _leaves(block: _Block) -> bool:
    """Tell whether `block` ends by leaving; a `raise` does not count, for nothing was found."""
    match block[-1] if block else None:
        case ast.Return() | ast.Continue() | ast.Break():
            return True
        case ast.If(body=body, orelse=orelse):
            return _leaves(body) and _leaves(orelse)
        case ast.With(body=body) | ast.AsyncWith(body=body):
            return _leaves(body)
        case _:
            return False


def _types(handler: ast.ExceptHandler) -> list[ast.expr]:
    match handler.type:
        case None:
            return []
        case ast.Tuple(elts=elts):
            return elts
        case single:
            return [single]
