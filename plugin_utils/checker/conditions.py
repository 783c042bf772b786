"""What a condition says about slots, given the locals that hold their values."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace

from plugin_utils.checker.definitions import Function
from plugin_utils.checker.events import Read, Regions, Test
from plugin_utils.checker.module import Module
from plugin_utils.checker.slots import Slot, is_unset, slot_named

__all__ = ("State", "cases_of", "inline_tests", "read_of", "tests_of")

_Tests = tuple[Test, ...]


@dataclass(slots=True)
class State:
    """What is known at one point of the walk."""

    function: Function
    module: Module
    regions: Regions = frozenset()
    awaits: int = 0
    tests: _Tests = ()
    aliases: dict[str, Read] = field(default_factory=dict)
    answers: dict[str, tuple[_Tests, _Tests]] = field(default_factory=dict)
    """The locals that hold a condition: what is empty if it is true, and if it is false."""
    choices: dict[str, _Tests] = field(default_factory=dict)
    """The locals that hold `_slot or build()`: the tests inside it."""

    def branch(self, tests: _Tests = ()) -> State:
        """Return a copy for a branch that runs only if `tests` found their slots empty."""
        return State(
            self.function,
            self.module,
            self.regions,
            self.awaits,
            self.tests + tests,
            dict(self.aliases),
            dict(self.answers),
            dict(self.choices),
        )

    def join(self, branches: list[State]) -> None:
        """Go on after a branching: with what any branch may have left behind."""
        for branch in branches:
            self.awaits = max(self.awaits, branch.awaits)
            for name, read in branch.aliases.items():
                known = self.aliases.get(name)
                if known is None or known.slot != read.slot or known.awaits <= read.awaits:
                    self.aliases[name] = read

    def bind(self, name: str, read: Read | None) -> None:
        """Note that the local `name` now holds what `read` saw, or something else."""
        for known in (self.aliases, self.answers, self.choices):
            known.pop(name, None)
        if read is not None:
            self.aliases[name] = replace(read, is_alias=True)

    def keep(self, name: str, value: ast.expr) -> None:
        """Note that the local `name` now holds the answer to `value`, or what it chooses."""
        if _is_condition(value):
            self.answers[name] = tests_of(value, self)
        elif tests := inline_tests(value, self):
            self.choices[name] = tests

    def slot(self, node: ast.expr) -> Slot | None:
        """Return the slot that `node` names."""
        return slot_named(node, self.function, self.module)


def read_of(node: ast.expr, state: State) -> Read | None:
    """Return which slot `node` gives the value of, now or by way of a local."""
    match node:
        case ast.Name(id=name) if name in state.aliases:
            return state.aliases[name]
        case ast.NamedExpr(target=target, value=value) if not state.slot(target):
            read = read_of(value, state)
            state.bind(target.id, read)
            return read
        case _:
            slot = state.slot(node.target if isinstance(node, ast.NamedExpr) else node)
            return Read(slot, state.regions, state.awaits) if slot is not None else None


def tests_of(node: ast.expr, state: State) -> tuple[_Tests, _Tests]:
    """Return the tests by which slots are empty if `node` is true, and if it is false.

    `and` and `or` are taken loosely: whatever one operand says counts for the whole. A freshness
    check beside the test (`x is None or expired()`) then still makes the site a lazy build.
    """
    match node:
        case ast.Name(id=name) if name in state.answers:
            return state.answers[name]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            empty, full = tests_of(operand, state)
            return full, empty
        case ast.BoolOp(values=values):
            both = [tests_of(value, state) for value in values]
            return sum((empty for empty, _ in both), ()), sum((full for _, full in both), ())
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _compared(node, left, op, right, state)
        case ast.Call(func=ast.Name(id="hasattr"), args=[owner, ast.Constant(value=str(name))]):
            return (), _found(ast.Attribute(owner, name, ast.Load()), node, state)
        case ast.Call(func=ast.Name(id="isinstance"), args=[value, _]):
            return (), _found(value, node, state)
        case ast.Call(func=ast.Name(id="len" | "bool"), args=[value]):
            return tests_of(value, state)
        case _:
            if read := read_of(node, state):
                return (), (Test(read, node, is_of_all=True),)
            # Whatever is asked, either answer can be the one that it has to be replaced.
            tests = _found(node, node, state)
            return tests, tests


def cases_of(node: ast.Match, state: State) -> tuple[list[_Tests], _Tests]:
    """Return the tests by which the subject is empty in each case, and if no case applies.

    That is so where the pattern is `None`, and in a wildcard below patterns that are not.
    """
    tests = _found(node.subject, node.subject, state)
    found: list[_Tests] = []
    for case in node.cases:
        is_rest = _is_wildcard(case.pattern) and bool(found) and not any(found)
        own = tests if is_rest or _is_empty(case.pattern, state) else ()
        found.append(own + (tests_of(case.guard, state)[0] if case.guard else ()))
    return found, tests


def _is_wildcard(pattern: ast.pattern) -> bool:
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None


def _is_empty(pattern: ast.pattern, state: State) -> bool:
    match pattern:
        case ast.MatchSingleton(value=value):
            return value is None
        case ast.MatchValue(value=value):
            return is_unset(value, state.module)
        case ast.MatchOr(patterns=patterns):
            return any(_is_empty(one, state) for one in patterns)
        case _:
            return False


def inline_tests(value: ast.expr, state: State) -> tuple[Test, ...]:
    """Return the tests inside `x = x or build()` and `x = x if x is not None else build()`."""
    match value:
        case ast.Name(id=name) if name in state.choices:
            return state.choices[name]
        case ast.BoolOp(op=ast.Or(), values=[first, *_]) if read := read_of(first, state):
            return (Test(read, first),)
        case ast.IfExp(test=test):
            empty, full = tests_of(test, state)
            return empty + full
        case _:
            return ()


def _is_condition(value: ast.expr) -> bool:
    """Tell whether `value` can only be true or false."""
    match value:
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.BoolOp(values=values):
            return all(map(_is_condition, values))
        case ast.Call(func=ast.Name(id="bool" | "hasattr" | "isinstance")):
            return True
        case _:
            return False


def _compared(
    node: ast.expr, left: ast.expr, op: ast.cmpop, right: ast.expr, state: State
) -> tuple[_Tests, _Tests]:
    if is_unset(left, state.module):
        left, right = right, left
    match op:
        case ast.Is() | ast.Eq() if is_unset(right, state.module):
            return _found(left, node, state), ()
        case ast.IsNot() | ast.NotEq() if is_unset(right, state.module):
            return (), _found(left, node, state)
        case ast.Eq() | ast.Lt() | ast.LtE() if _is_nothing(right, op):
            full, empty = tests_of(left, state)
            return empty, full
        case ast.NotEq() | ast.Gt() | ast.GtE() if _is_nothing(right, op):
            return tests_of(left, state)
        case ast.NotEq() if not isinstance(right, ast.Constant):
            return _found(left, node, state) + _found(right, node, state), ()
        case ast.In() | ast.NotIn():
            right = _keys_of(right)
            tests = _found(ast.Subscript(right, left, ast.Load()), node, state)
            return ((), tests) if isinstance(op, ast.In) else (tests, ())
        case _:
            return (), ()


def _keys_of(value: ast.expr) -> ast.expr:
    """Return the table whose keys are asked: `_pages` in `_pages.keys()`, too."""
    match value:
        case ast.Call(func=ast.Attribute(value=table, attr="keys"), args=[]):
            return table
        case _:
            return value


def _is_nothing(value: ast.expr, op: ast.cmpop) -> bool:
    """Tell whether `op value` compares with nothing: `== 0`, `< 1`, `!= []`."""
    match value:
        case ast.Constant(value=int(least)):
            return least == isinstance(op, ast.Lt | ast.GtE)
        case ast.List(elts=[]) | ast.Dict(keys=[]):
            return True
        case _:
            return False


def _found(value: ast.expr, node: ast.expr, state: State) -> _Tests:
    read = read_of(value, state) or _asked(value, state)
    return (Test(read, node),) if read else ()


def _asked(value: ast.expr, state: State) -> Read | None:
    """Return the look at what is asked about itself: `_link.is_closed`, `_link.is_closed()`."""
    match value:
        case ast.Call(func=ast.Attribute(value=asked), args=[]) | ast.Attribute(value=asked):
            return read_of(asked, state)
        case _:
            return None
