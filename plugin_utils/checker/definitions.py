"""What the checker knows of one class and of one function, apart from how it runs."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from plugin_utils.checker.syntax import (
    LOCK_TYPES,
    dotted,
    last_name,
    makes_lock,
    makes_own_lock,
    nodes_in,
)

__all__ = ("Class", "Function")

_THREAD_STARTERS = frozenset({"Thread", "Timer", "submit", "run_in_executor", "to_thread"})


@dataclass(eq=False)
class Class:
    """A class of the module: what its body binds, and its methods."""

    node: ast.ClassDef
    bindings: dict[str, ast.expr] = field(default_factory=dict)
    methods: dict[str, Function] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The class's own name."""
        return self.node.name

    @cached_property
    def decorators(self) -> frozenset[str]:
        """The own names of the decorators, called or not."""
        bare = (d.func if isinstance(d, ast.Call) else d for d in self.node.decorator_list)
        return frozenset(map(last_name, bare))

    @cached_property
    def shared_containers(self) -> frozenset[str]:
        """The containers of the class body that no method replaces: one for all instances."""
        made = {name for name, value in self.bindings.items() if _is_container(value)}
        return frozenset(made - self.instance_attributes) if made else frozenset()

    @cached_property
    def shared_names(self) -> frozenset[str]:
        """The names of the class body that no method sets on the instance: one for all of them."""
        return frozenset(self.bindings.keys() - self.instance_attributes)

    @cached_property
    def set_by_init(self) -> frozenset[str]:
        """The attributes that `__init__` stores on the instance."""
        init = self.methods.get("__init__")
        return _stored_on_receiver(init) if init else frozenset()

    @property
    def has_lock(self) -> bool:
        """Whether the class body makes a lock."""
        return any(map(makes_lock, self.bindings.values()))

    @cached_property
    def own_locks(self) -> frozenset[str]:
        """The attributes of an instance that hold a lock which its `__init__` has made for it."""
        init = self.methods.get("__init__")
        if init is None or init.receives_class:  # the instances of a metaclass are classes
            return frozenset()
        return _locks_of(init)

    @property
    def is_singleton(self) -> bool:
        """Whether the class itself sees to it that there is one instance."""
        return "__new__" in self.methods or bool(self.node.keywords)

    @cached_property
    def is_threaded(self) -> bool:
        """Whether the class itself shows that threads share its instances.

        It owns a lock, or hands one of its methods to a thread or an executor.
        """
        return self.has_lock or any(
            _shows_threads(node, method.receiver)
            for method in self.methods.values()
            for node in ast.walk(method.node)
        )

    @cached_property
    def instance_attributes(self) -> frozenset[str]:
        """The attributes that some method stores on the instance."""
        found = [_stored_on_receiver(m) for m in self.methods.values() if not m.receives_class]
        return frozenset(name for names in found for name in names)


@dataclass(eq=False)
class Function:
    """A function or method, with the scope it stands in."""

    node: ast.FunctionDef | ast.AsyncFunctionDef
    qualname: str
    owner: Class | None
    """The class whose method this is."""
    outer: Function | None
    """The function that this one is nested in."""

    @property
    def name(self) -> str:
        """The function's own name."""
        return self.node.name

    @property
    def is_private(self) -> bool:
        """Whether the name says that nobody outside the module calls it."""
        return self.name.startswith("_") and not self.name.startswith("__")

    @property
    def is_async(self) -> bool:
        """Whether this is a coroutine function."""
        return isinstance(self.node, ast.AsyncFunctionDef)

    @cached_property
    def params(self) -> tuple[str, ...]:
        """The names of all parameters, in order."""
        args = self.node.args
        named = [*args.posonlyargs, *args.args, *args.kwonlyargs]
        named += [extra for extra in (args.vararg, args.kwarg) if extra]
        return tuple(arg.arg for arg in named)

    @property
    def needs_arguments(self) -> bool:
        """Whether a caller has to pass something; a class method gets its class by itself."""
        args = self.node.args
        wanted = len(args.posonlyargs) + len(args.args) - len(args.defaults) - self.receives_class
        return wanted > 0 or None in args.kw_defaults

    @cached_property
    def decorators(self) -> tuple[str, ...]:
        """The dotted names of the decorators, called or not."""
        bare = (d.func if isinstance(d, ast.Call) else d for d in self.node.decorator_list)
        return tuple(dotted(decorator) for decorator in bare)

    @cached_property
    def given_to_decorators(self) -> tuple[ast.expr, ...]:
        """What the decorators are called with: `lock` in `@holding(lock)`."""
        calls = (d for d in self.node.decorator_list if isinstance(d, ast.Call))
        return tuple(argument for call in calls for argument in call.args)

    @cached_property
    def receiver(self) -> str:
        """The name by which a method knows its instance or class; empty for anything else."""
        if self.owner is None or not self.params or "staticmethod" in self.decorators:
            return ""
        return self.params[0]

    @cached_property
    def receives_class(self) -> bool:
        """Whether the receiver is the class: a class method, `__new__`, or a metaclass's method."""
        return self.receiver in {"cls", "klass", "mcs"} or "classmethod" in self.decorators

    @cached_property
    def own_class_names(self) -> frozenset[str]:
        """The locals that hold the class of the instance: `cls = type(self)`."""
        if not self.receiver:
            return frozenset()
        values = (node for node in self.own_nodes if isinstance(node, ast.Assign))
        names = (v.targets[0] for v in values if _is_class_of(v.value, self.receiver))
        return frozenset(name.id for name in names if isinstance(name, ast.Name))

    @cached_property
    def aliases(self) -> dict[str, str]:
        """The locals that are other names of one thing: `cls = Future`."""
        kept: dict[str, set[str]] = defaultdict(set)
        for node in self.own_nodes:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                value = node.value
                kept[node.targets[0].id].add(value.id if isinstance(value, ast.Name) else "")
        return {name: next(iter(of)) for name, of in kept.items() if len(of) == 1 and "" not in of}

    @cached_property
    def annotated_locks(self) -> frozenset[str]:
        """The parameters that are locks, as their annotations say."""
        args = self.node.args
        named = [*args.posonlyargs, *args.args, *args.kwonlyargs]
        return frozenset(
            a.arg for a in named if a.annotation and last_name(a.annotation) in LOCK_TYPES
        )

    @cached_property
    def declared(self) -> frozenset[str]:
        """The names that the function declares `global`."""
        found = (node.names for node in self.own_nodes if isinstance(node, ast.Global))
        return frozenset(name for names in found for name in names)

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names that are the function's own: parameters, and what it assigns."""
        names = {name for node in self.own_nodes for name in _names_bound_by(node)}
        return frozenset(names.union(self.params) - self.declared)

    @cached_property
    def imports(self) -> frozenset[str]:
        """The names that an import inside the function binds."""
        aliases = (node for node in self.own_nodes if isinstance(node, ast.alias))
        return frozenset(alias.asname or alias.name.partition(".")[0] for alias in aliases)

    @cached_property
    def tables(self) -> frozenset[str]:
        """The classes inside the function that map a table: a second one of its name is refused."""
        classes = (node for node in self.own_nodes if isinstance(node, ast.ClassDef))
        return frozenset(node.name for node in classes if any(map(_names_table, node.body)))

    @cached_property
    def unpacked(self) -> frozenset[str]:
        """The names that are bound by taking a tuple apart."""
        tuples = (node for node in self.own_nodes if isinstance(node, ast.Tuple))
        targets = (node for node in tuples if isinstance(node.ctx, ast.Store))
        return frozenset(e.id for node in targets for e in node.elts if isinstance(e, ast.Name))

    @cached_property
    def locals(self) -> frozenset[str]:
        """The names that are local here or in a function around this one."""
        if self.outer is None:
            return self.bound
        return self.bound | (self.outer.locals - self.declared)

    @cached_property
    def own_nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the body except those inside a nested function or class, in no order."""
        return nodes_in(self.node.body)


def _names_table(statement: ast.stmt) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Name(id="__tablename__")]):
            return True
        case _:
            return False


def _is_container(value: ast.expr) -> bool:
    return isinstance(value, ast.Dict | ast.Set | ast.List) or (
        isinstance(value, ast.Call) and "dict" in last_name(value.func).lower()
    )


def _stored_on_receiver(method: Function) -> frozenset[str]:
    return frozenset(
        node.attr
        for node in method.own_nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == method.receiver
    )


def _locks_of(init: Function) -> frozenset[str]:
    """Return the attributes that `__init__` stores a lock of its own in."""
    stores = (node for node in init.own_nodes if isinstance(node, ast.Assign))
    targets = (store.targets[0] for store in stores if makes_own_lock(store.value))
    return frozenset(
        target.attr
        for target in targets
        if isinstance(target, ast.Attribute)
        and isinstance(target.value, ast.Name)
        and target.value.id == init.receiver
    )


def _shows_threads(node: ast.AST, receiver: str) -> bool:
    match node:
        case ast.Assign(value=value):
            return makes_lock(value)
        case ast.Call(func=func, args=args, keywords=keywords) if (
            last_name(func) in _THREAD_STARTERS
        ):
            passed = [*args, *(keyword.value for keyword in keywords)]
            return any(
                isinstance(p, ast.Attribute)
                and isinstance(p.value, ast.Name)
                and p.value.id == receiver
                for p in passed
            )
        case _:
            return False


def _is_class_of(value: ast.expr, receiver: str) -> bool:
    match value:
        case (
            ast.Call(func=ast.Name(id="type"), args=[ast.Name(id=owner)])
            | ast.Attribute(value=ast.Name(id=owner), attr="__class__")
        ):
            return owner == receiver
        case _:
            return False


def _names_bound_by(node: ast.AST) -> Sequence[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return (name,)
        case ast.Nonlocal(names=names):
            return names
        case ast.alias(name=name, asname=asname):
            return (asname or name.partition(".")[0],)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            return (name,)
        case _:
            return ()
