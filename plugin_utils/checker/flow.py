"""How a function gets from the test of a slot to the store: what was tested, under which locks.

A function is walked once, block by block, in the order of execution. The walk carries what is
known at each statement: the tests that let control get here, the locks that are held, and the
locals that hold a slot's value. A branch gets a copy. A branch that leaves the block hands its
negated test to the statements after it, which is how an early return counts as a test.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from plugin_utils.checker.builders import values_of
from plugin_utils.checker.conditions import State, cases_of, tests_of
from plugin_utils.checker.definitions import Function
from plugin_utils.checker.events import Flow, Test
from plugin_utils.checker.exits import caught_by, flagged, leaves, missed_by, suppressed_by
from plugin_utils.checker.module import Module
from plugin_utils.checker.notes import Notes

__all__ = ("walk",)

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
        self._notes = Notes(self.flow, module, calls=calls)

    def block(self, block: _Block, state: State, after: _Block = ()) -> None:
        """Walk `block`; `after` is what runs next whenever the block runs, and only then."""
        for index, statement in enumerate(block):
            self._statement(statement, [*block[index + 1 :], *after], state)

    def _statement(self, node: ast.stmt, rest: _Block, state: State) -> None:
        match node:
            case ast.If():
                self._if(node, rest, state)
            case ast.Assign(targets=targets, value=value):
                self._notes.look_inside(value, state)
                self._notes.assign(targets, value, node, rest, state)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._notes.look_inside(value, state)
                self._notes.assign([target], value, node, rest, state)
            case ast.Expr(value=value):
                self._notes.look_inside(value, state)
                self._notes.bare(value, node, rest, state)
            case ast.Return():
                self._notes.returned(node, state)
            case ast.With() | ast.AsyncWith():
                self._with(node, rest, state)
            case ast.Try() | ast.TryStar():
                self._try(node, state)
            case ast.For() | ast.AsyncFor():
                self._notes.look_inside(node.iter, state)
                state.awaits += isinstance(node, ast.AsyncFor)
                self._loop(node, (), state)
            case ast.While(test=test):
                self._notes.look_inside(test, state)
                self._loop(node, tests_of(test, state)[0], state)
                self._notes.acquire_in(test, state)  # `while not lock.acquire(timeout=1)`
            case ast.Match():
                self._match(node, state)
            case _:
                self._notes.by_name(node, rest, state)

    def _if(self, node: ast.If, rest: _Block, state: State) -> None:
        self._notes.look_inside(node.test, state)
        self._notes.acquire_in(node.test, state)
        empty, full = tests_of(node.test, state)
        self.flow.tests += empty + full
        then, otherwise = state.branch(empty), state.branch(full)
        # A second test of what was tested before: what follows it runs after a store inside it.
        asked = {test.slot for test in empty if test.slot.is_process_wide}
        is_double = not asked.isdisjoint(test.slot for test in state.tests)
        self._branches(
            [(node.body, then), (node.orelse, otherwise)], state, rest if is_double else ()
        )
        if leaves(node.body):
            state.tests = otherwise.tests
        elif leaves(node.orelse) or (isinstance(node.test, ast.Name) and not node.orelse):
            # `if caching:` with `if key in table: return` inside: whoever stores tested it first.
            state.tests = then.tests

    def _match(self, node: ast.Match, state: State) -> None:
        self._notes.look_inside(node.subject, state)
        of_cases, tests = cases_of(node, state)
        self.flow.tests += tests
        pairs = list(zip(node.cases, of_cases, strict=True))
        self._branches([(case.body, state.branch(own)) for case, own in pairs], state)
        if all(leaves(case.body) for case, own in pairs if not own):
            state.tests += tests

    def _branches(
        self,
        branches: list[tuple[list[ast.stmt], State]],
        state: State,
        after: _Block = (),
    ) -> None:
        for block, branch in branches:
            self.block(block, branch, after)
        state.join([branch for block, branch in branches if not leaves(block)])

    def _with(self, node: ast.With | ast.AsyncWith, rest: _Block, state: State) -> None:
        held = state.regions
        for item in node.items:
            self._notes.look_inside(item.context_expr, state)
            if self._is_lock(item.context_expr, state.function):
                state.regions |= {self._notes.region(item.context_expr)}
        state.awaits += isinstance(node, ast.AsyncWith)
        missed = missed_by(node.body, suppressed_by(node), state)
        self.block(node.body, state, rest)
        state.regions = held
        state.tests += missed if leaves(node.body) else ()

    def _is_lock(self, expression: ast.expr, function: Function) -> bool:
        """Tell whether `expression` gives a lock, also by a local name for it."""
        if not isinstance(expression, ast.Name):
            return self._module.is_lock(expression)
        name = expression.id
        if name in function.annotated_locks or self._module.is_lock(expression):
            return True
        kept = list(values_of(name, function))
        return bool(kept) and all(map(self._module.is_lock, kept))

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
