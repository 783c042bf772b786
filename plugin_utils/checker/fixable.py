"""Which racy accessors can be rewritten without changing what they do, and how each is shaped.

Never: an accessor with arguments, a method, a coroutine; a builder that can give `None` (a slot
that holds it would look empty for ever) or that comes back to its accessor (no lock mends that);
anything the rewrite would have to guess about.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from dataclasses import dataclass, replace

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.definitions import Function
from plugin_utils.checker.locking import NoLockError, held_lock, refuse_inversion
from plugin_utils.checker.module import Module
from plugin_utils.checker.safety import allows_none, can_be_none, comes_back, names_reached
from plugin_utils.checker.sites import Site
from plugin_utils.checker.slots import Place
from plugin_utils.checker.source import lines_of
from plugin_utils.checker.syntax import ends_line, last_line, last_name

__all__ = ("NoLockError", "Plan", "plan_for")


@dataclass(frozen=True, slots=True)
class Plan:
    """One accessor that can be fixed, taken apart."""

    module: Module
    function: ast.FunctionDef
    slot: str
    binding: ast.Assign | ast.AnnAssign
    """The statement that makes the empty slot at module level."""
    guard: ast.If
    is_early: bool
    """Whether the guard returns what is there, instead of holding the build."""
    build: tuple[ast.stmt, ...]
    """The statements that build and store."""
    stores: tuple[ast.Assign, ...]
    returns: tuple[ast.Return, ...]
    local: str = ""
    """A free name for the one read of the slot."""
    lock: str = ""
    is_lock_new: bool = True
    """Whether `lock` is a free name, and not what others hold around the slot."""

    @property
    def returned_slots(self) -> list[ast.expr]:
        """The returned values that read the slot again."""
        return [
            node.value for node in self.returns if node.value and _is_name(node.value, self.slot)
        ]

    @property
    def is_slot_private(self) -> bool:
        """Whether nothing but the accessor and the binding names the slot.

        Judged by the text: a string, a keyword or a comment elsewhere is a mention, too.
        """
        own = [self.function, self.binding]
        inside = {n for node in own for n in range(node.lineno, last_line(node) + 1)}
        lines = enumerate(lines_of(self.module.text), start=1)
        mention = re.compile(rf"\b{self.slot}\b")
        return not any(mention.search(line) for number, line in lines if number not in inside)


def plan_for(site: Site, analysis: Analysis) -> Plan | None:
    """Return how the accessor of `site` can be fixed, or `None` if it cannot safely be.

    Raises:
        NoLockError: Only its lock stands in the way.
    """
    module, node = analysis.module, site.function.node
    binding = _binding(site, module)
    guard = _guard(node, site.slot.name)
    if isinstance(node, ast.AsyncFunctionDef) or not _is_plain(site.function, module):
        return None
    if any(isinstance(n, ast.Yield | ast.YieldFrom) for n in site.function.own_nodes):
        return None
    if binding is None or guard is None:
        return None
    is_early = isinstance(guard.body[0], ast.Return)
    after = node.body[node.body.index(guard) + 1 :]
    build = tuple(after if is_early else guard.body)
    plan = Plan(
        module=module,
        function=node,
        slot=site.slot.name,
        binding=binding,
        guard=guard,
        is_early=is_early,
        build=build,
        stores=tuple(node for part in build for node in _stores_in(part, site.slot.name)),
        returns=tuple(n for n in site.function.own_nodes if isinstance(n, ast.Return)),
    )
    is_safe = _is_safe(plan, site) and not _is_stored_by_build(site, analysis)
    return _with_names(plan, site, analysis) if is_safe else None


def _binding(site: Site, module: Module) -> ast.Assign | ast.AnnAssign | None:
    """Return the one statement `slot = None` of the module, if that is how the slot starts."""
    if site.slot.place is not Place.GLOBAL or site.slot.owner or site.slot.is_item:
        return None
    found = [
        node
        for node in module.tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and _names(node) == [site.slot.name]
    ]
    match found:
        case [
            ast.Assign(value=ast.Constant(value=None))
            | ast.AnnAssign(value=ast.Constant(value=None))
        ]:
            return found[0] if ends_line(found[0], module.tree.body) else None
        case _:
            return None


def _names(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [last_name(target) for target in targets]


def _guard(node: ast.FunctionDef | ast.AsyncFunctionDef, slot: str) -> ast.If | None:
    """Return the `if` of the accessor's body that tests the slot alone, on lines of its own."""
    for statement in node.body:
        match statement:
            case ast.If(test=test, body=[first, *_], orelse=[]) if _tests(test, slot):
                is_early = _returns_slot(first, slot)
                fits = _is_full(test) == is_early and (is_early or first.lineno > test.lineno)
                return statement if fits and test.end_lineno == statement.lineno else None
            case _:
                pass
    return None


def _tests(test: ast.expr, slot: str) -> bool:
    match test:
        case ast.Name(id=name) | ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name)):
            return name == slot
        case ast.Compare(
            left=ast.Name(id=name),
            ops=[ast.Is() | ast.IsNot()],
            comparators=[ast.Constant(value=None)],
        ):
            return name == slot
        case _:
            return False


def _is_full(test: ast.expr) -> bool:
    """Tell whether `test` is true if the slot is filled."""
    match test:
        case ast.Name() | ast.Compare(ops=[ast.IsNot()]):
            return True
        case _:
            return False


def _returns_slot(node: ast.stmt, slot: str) -> bool:
    return isinstance(node, ast.Return) and _is_name(node.value, slot)


def _is_name(value: ast.expr | None, name: str) -> bool:
    return isinstance(value, ast.Name) and value.id == name


def _stores_in(statement: ast.stmt, slot: str) -> list[ast.Assign]:
    return [
        node
        for node in ast.walk(statement)
        if isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and _is_name(node.targets[0], slot)
    ]


def _is_plain(function: Function, module: Module) -> bool:
    """Tell whether the accessor is a module's own function, without arguments or decorators."""
    node = function.node
    is_top = module.functions.get(function.name) is function
    return (
        is_top and not function.params and not node.decorator_list and not allows_none(node.returns)
    )


def _with_names(plan: Plan, site: Site, analysis: Analysis) -> Plan | None:
    """Return the plan with its names: a local that hides nothing, and the one lock of the slot."""
    bare = plan.slot.strip("_").lower()
    taken = plan.module.names | site.function.locals | {*dir(builtins), *_names_in(plan.function)}
    locals_ = (n for n in (bare, "found", f"{bare}_now") if _is_name_of_variable(n))
    local = next((name for name in locals_ if name not in taken), None)
    if local is None:
        return None
    held = held_lock(site, plan.binding, analysis)
    refuse_inversion(site, held, plan.module)
    if held is not None:
        return replace(plan, local=local, lock=held, is_lock_new=False)
    locks = (f"_{bare}_lock", f"_{bare}_build_lock")
    lock = next((n for n in locks if not re.search(rf"\b{n}\b", plan.module.text)), None)
    return replace(plan, local=local, lock=lock) if lock else None


def _is_name_of_variable(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


def _names_in(function: ast.FunctionDef) -> set[str]:
    return {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}


def _is_safe(plan: Plan, site: Site) -> bool:
    return (
        bool(plan.stores)
        and _is_only_use(plan, site.function)
        and _ends_with_slot(plan)
        and all(_gives_slot(node.value, plan) for node in plan.returns)
        and _is_ready(plan)
        and not any(can_be_none(store.value, site.function, plan.module) for store in plan.stores)
        and not comes_back(site.function, plan.module)
        and all(store.slot == site.slot for store in site.flow.stores)
        and plan.module.imports.get("threading", "threading") == "threading"
        and "threading" not in plan.module.bindings
    )


def _is_stored_by_build(site: Site, analysis: Analysis) -> bool:
    """Tell whether the accessor comes to another function that stores into the slot."""
    reached = names_reached(site.function.node.body, analysis.module)
    others = (flow for flow in analysis.flows if flow.function.name in reached)
    return any(store.slot == site.slot for flow in others for store in flow.stores)


def _is_only_use(plan: Plan, function: Function) -> bool:
    """Tell whether the slot occurs in the accessor only where the plan knows it."""
    known = len(plan.stores) + len(plan.returned_slots) + 1
    nodes = ast.walk(function.node)
    return sum(isinstance(n, ast.Name) and n.id == plan.slot for n in nodes) == known


def _is_ready(plan: Plan) -> bool:
    """Tell whether nothing is done to the object once it is stored, but returning it."""
    returned = {node.value for node in plan.returns}
    return not any(
        isinstance(node, ast.Name) and node.id == store.value.id and node not in returned
        for store in plan.stores
        if isinstance(store.value, ast.Name)
        for node in ast.walk(plan.function)
        if getattr(node, "lineno", 0) > last_line(store)
    )


def _ends_with_slot(plan: Plan) -> bool:
    """Tell whether the accessor's last statement returns, right after the build."""
    body = plan.function.body
    after = body[body.index(plan.guard) + 1 :]
    if plan.is_early:
        return bool(after) and isinstance(after[-1], ast.Return)
    return len(after) == 1 and _returns_slot(after[0], plan.slot)


def _gives_slot(value: ast.expr | None, plan: Plan) -> bool:
    """Tell whether a returned value is the slot, or the local that was stored in it."""
    stored = {store.value.id for store in plan.stores if isinstance(store.value, ast.Name)}
    return _is_name(value, plan.slot) or (isinstance(value, ast.Name) and value.id in stored)
