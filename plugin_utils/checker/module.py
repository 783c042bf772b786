"""What a module defines: its globals, classes, functions, locks and markers, from one pass.

The pass visits statements only. Expressions are looked into where a rule asks for it, which is
what keeps the checker about as fast as parsing.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from plugin_utils.checker.definitions import Class, Function
from plugin_utils.checker.source import lines_of
from plugin_utils.checker.syntax import (
    LOCK_TYPES,
    blocks_of,
    dotted,
    last_name,
    makes_lock,
    nodes_in,
)
from plugin_utils.checker.words import looks_like_lock, looks_per_thread

__all__ = ("PER_THREAD", "Module")

PER_THREAD = frozenset({"local", "Local", "ContextVar"})
"""What holds another value in each thread, or in each context."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where the pass is: in which class's body or which function's, and their dotted name."""

    owner: Class | None = None
    outer: Function | None = None
    prefix: str = ""


def _lines_with_stores(text: str) -> frozenset[int]:
    if ":=" not in text and "setdefault" not in text:
        return frozenset()
    lines = enumerate(lines_of(text), start=1)
    return frozenset(n for n, line in lines if ":=" in line or "setdefault" in line)


class Module:
    """The facts about one module."""

    def __init__(self, tree: ast.Module, text: str, path: str = "") -> None:
        """Collect the facts of `tree`, which is the syntax of `text`, the file at `path`."""
        self.tree = tree
        self.text = text
        self.path = path
        self.inline_stores = _lines_with_stores(text)
        """The lines where it is worth looking for stores inside expressions."""
        self.bindings: dict[str, ast.expr | None] = {}
        """What the module level binds by assignment."""
        self.imports: dict[str, str] = {}
        """What each imported name stands for, wherever it is imported."""
        self.classes: dict[str, Class] = {}
        self.functions: dict[str, Function] = {}
        """The functions at module level."""
        self.all_functions: list[Function] = []
        self.locks: set[str] = set()
        self.thread_locals: set[str] = set()
        self._collect(tree.body, _Scope())

    @property
    def names(self) -> set[str]:
        """The names at module level."""
        return {*self.bindings, *self.imports, *self.classes, *self.functions}

    def is_lock(self, expression: ast.expr) -> bool:
        """Tell whether `expression` gives a lock: by what it was bound to, or by its name."""
        name = last_name(expression)
        if name in self.locks or looks_like_lock(name):
            return True
        match expression:
            case ast.Call(func=func, args=args):
                fresh = any(map(makes_lock, args))
                called = self.functions.get(dotted(func))
                if called is not None and _holds_lock(called, self):
                    return True
                return fresh or last_name(func) in LOCK_TYPES or self.is_lock(func)
            case ast.Subscript(value=value, slice=ast.Constant(value=str(key))):
                return looks_like_lock(key) or self.is_lock(value)
            case ast.Subscript(value=value) | ast.Attribute(value=value):
                return self.is_lock(value)
            case _:
                return False

    def hands_out_lazy_lock(self, expression: ast.expr) -> bool:
        """Tell whether a function of this module is called that makes a lock if there is none."""
        match expression:
            case ast.Call(func=ast.Name(id=name)) if name in self.functions:
                found = self.functions[name]
                if any(isinstance(node, ast.With) for node in found.own_nodes):
                    return False
                stores = (node for node in found.own_nodes if isinstance(node, ast.Assign))
                locks = (store.targets for store in stores if makes_lock(store.value))
                return any(not found.declared.isdisjoint(map(last_name, made)) for made in locks)
            case _:
                return False

    def _collect(self, block: list[ast.stmt], scope: _Scope) -> None:
        for statement in block:
            match statement:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    self._add_function(statement, scope)
                case ast.ClassDef():
                    self._add_class(statement, scope)
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        self._bind(target, value, scope)
                case ast.AnnAssign(target=target, value=value):
                    self._bind(target, value, scope)
                case ast.Import() | ast.ImportFrom():
                    self._add_imports(statement)
                case _:
                    for inner in blocks_of(statement):
                        self._collect(inner, scope)

    def _add_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: _Scope) -> None:
        function = Function(node, scope.prefix + node.name, scope.owner, scope.outer)
        self.all_functions.append(function)
        if scope.owner is not None:
            scope.owner.methods[node.name] = function
        elif scope.outer is None:
            self.functions[node.name] = function
        self._collect(node.body, _Scope(None, function, f"{function.qualname}."))

    def _add_class(self, node: ast.ClassDef, scope: _Scope) -> None:
        found = Class(node)
        self.classes.setdefault(node.name, found)
        self._collect(node.body, _Scope(found, None, f"{scope.prefix}{node.name}."))

    def _add_imports(self, node: ast.Import | ast.ImportFrom) -> None:
        source = ""
        if isinstance(node, ast.ImportFrom):
            source = "." * node.level + (f"{node.module}." if node.module else "")
        for alias in node.names:
            bound = alias.asname or (alias.name if source else alias.name.partition(".")[0])
            self.imports[bound] = source + alias.name

    def _bind(self, target: ast.expr, value: ast.expr | None, scope: _Scope) -> None:
        name = last_name(target)
        if makes_lock(value) or _makes_locks(value):
            self.locks.add(name)
        elif isinstance(value, ast.Call) and (
            self._is_per_thread(last_name(value.func)) or looks_per_thread(name)
        ):
            self.thread_locals.add(name)
        if not isinstance(target, ast.Name) or scope.outer is not None:
            return
        if scope.owner is None:
            self.bindings[name] = value
        elif value is not None:
            scope.owner.bindings[name] = value

    def _is_per_thread(self, made: str) -> bool:
        """Tell whether what is made holds another value in each thread."""
        bases = self.classes[made].node.bases if made in self.classes else []
        return made in PER_THREAD or any(last_name(base) in PER_THREAD for base in bases)


def _makes_locks(value: ast.expr | None) -> bool:
    """Tell whether `value` is a table that makes its locks itself: `defaultdict(Lock)`."""
    return isinstance(value, ast.Call) and any(last_name(a) in LOCK_TYPES for a in value.args)


def _holds_lock(function: Function, module: Module) -> bool:
    """Tell whether a context manager that is written as a generator yields under a lock only.

    One that it enters itself is not followed: two may enter each other.
    """
    guarded: set[ast.AST] = set()
    for found in function.own_nodes:
        if isinstance(found, ast.With) and any(
            _is_plain_lock(item.context_expr, module) for item in found.items
        ):
            guarded.update(nodes_in(found.body))
    yields = {node for node in function.own_nodes if isinstance(node, ast.Yield)}
    return bool(yields) and yields <= guarded


def _is_plain_lock(expression: ast.expr, module: Module) -> bool:
    is_own = isinstance(expression, ast.Call) and dotted(expression.func) in module.functions
    return not is_own and module.is_lock(expression)
