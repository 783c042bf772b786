"""Rewriting racy accessors: a double-checked lock in place, or `@lazy_singleton`.

One accessor is rewritten at a time and the result is read anew, so that each rewrite starts from
code that parses.
"""

from __future__ import annotations

import ast

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.check import hits_in
from plugin_utils.checker.edits import Edits
from plugin_utils.checker.fixable import NoLockError, Plan, plan_for
from plugin_utils.checker.imports import import_lazy_singleton, import_threading
from plugin_utils.checker.model import Finding
from plugin_utils.checker.module import Module
from plugin_utils.checker.safety import builds_surely
from plugin_utils.checker.sites import Site
from plugin_utils.checker.source import lines_of, parse
from plugin_utils.checker.syntax import last_line

__all__ = ("fix_source",)

_DECORATOR = "lazy_singleton"
# Where one of these is, a line holds more than one statement: another one, or a comment.
_MORE = frozenset("#;")


def fix_source(text: str, findings: list[Finding], *, unsafe: bool = False) -> str:
    """Return `text` with every fixable one of `findings` fixed.

    Args:
        text: The module that the findings are about.
        findings: What `check_source` found and the user asked for.
        unsafe: Also take away globals that only the accessor uses, in favour of `@lazy_singleton`.
    """
    wanted = {(finding.function, finding.name) for finding in findings if finding.fixable}
    for key in sorted(wanted):
        plan = _plan(text, key)
        if plan is not None:
            rewrite = _decorate if unsafe and _can_be_decorated(plan) else _lock_in_place
            rewritten = rewrite(plan, text)
            text = rewritten if _is_sound(rewritten, key) else text
    return text


def _is_sound(text: str, key: tuple[str, str]) -> bool:
    """Tell whether a rewrite kept its promise; other people's code deserves the second look."""
    try:
        return _found(text, key) is None
    except SyntaxError:
        return False


def _plan(text: str, key: tuple[str, str]) -> Plan | None:
    found = _found(text, key)
    try:
        return plan_for(*found) if found else None
    except NoLockError:  # the rewrite before this one took away the way out
        return None


def _found(text: str, key: tuple[str, str]) -> tuple[Site, Analysis] | None:
    """Return the lazy build that is reported for a function and a slot."""
    analysis = Analysis(Module(parse(text), text))
    named = {(hit.function.qualname, hit.name): hit.site for _, hit in hits_in(analysis)}
    site = named.get(key)
    return (site, analysis) if site is not None else None


def _lock_in_place(plan: Plan, text: str) -> str:
    """Rewrite to the double-checked lock: one read, one lock, one more look under it."""
    edits = Edits(text, plan.module.tree)
    for node in (_name_in(plan.guard.test), *plan.returned_slots):
        edits.replace(node, plan.local)
    for store in plan.stores:
        edits.replace(store.targets[0], f"{plan.slot} = {plan.local}")
    outer = edits.prefix(plan.guard)
    edits.insert_before(plan.guard.lineno, f"{outer}{plan.local} = {plan.slot}")
    if plan.is_early:
        _lock_rest(plan, edits, outer)
    else:
        _lock_body(plan, edits, outer)
    if plan.is_lock_new:
        # Not a `Lock`: a builder may come back through another module. It must not begin to hang.
        edits.insert_after(last_line(plan.binding), f"{plan.lock} = threading.RLock()")
        import_threading(plan, edits)
    return edits.apply()


def _lock_rest(plan: Plan, edits: Edits, outer: str) -> None:
    """Put everything after the early return under the lock, behind the same early return."""
    inner = outer * 2  # the accessor stands at the module's own level
    edits.insert_after(
        last_line(plan.guard),
        f"{outer}with {plan.lock}:",
        f"{inner}{plan.local} = {plan.slot}",
        f"{inner}if {_test(plan)}:",
        f"{inner}{outer}return {plan.local}",
    )
    edits.indent(last_line(plan.guard) + 1, last_line(plan.build[-1]), outer)


def _lock_body(plan: Plan, edits: Edits, outer: str) -> None:
    """Put the guarded block under the lock, behind the same guard."""
    inner = edits.prefix(plan.build[0])
    unit = inner.removeprefix(outer)
    edits.insert_after(
        plan.guard.lineno,
        f"{inner}with {plan.lock}:",
        f"{inner}{unit}{plan.local} = {plan.slot}",
        f"{inner}{unit}if {_test(plan)}:",
    )
    edits.indent(plan.guard.lineno + 1, last_line(plan.build[-1]), unit * 2)


def _decorate(plan: Plan, text: str) -> str:
    """Rewrite to `@lazy_singleton`: the slot goes, and the function only builds."""
    edits = Edits(text, plan.module.tree)
    import_lazy_singleton(plan, edits)
    edits.insert_before(plan.function.lineno, f"{edits.prefix(plan.function)}@{_DECORATOR}")
    edits.return_instead(plan.stores[0])
    for first, last in _superfluous(plan):
        edits.drop(first, last)
    edits.drop_with_blanks(plan.binding.lineno, last_line(plan.binding))
    if plan.is_early:
        edits.drop_through_blanks(plan.guard.lineno, last_line(plan.guard))
    else:
        unit = edits.prefix(plan.build[0]).removeprefix(edits.prefix(plan.guard))
        edits.outdent(plan.guard.lineno + 1, last_line(plan.stores[0]), unit)
    return edits.apply()


def _superfluous(plan: Plan) -> list[tuple[int, int]]:
    """Return the first and last lines of what a function that only builds has no use for."""
    guard_end = last_line(plan.guard) if plan.is_early else plan.guard.lineno
    return [
        *((node.lineno, last_line(node)) for node in (plan.binding, *_globals_in(plan))),
        (plan.guard.lineno, guard_end),
        (last_line(plan.stores[0]) + 1, last_line(plan.function.body[-1])),
    ]


def _can_be_decorated(plan: Plan) -> bool:
    """Tell whether the slot is the accessor's own, filled once, at the end, by a sure object."""
    build = plan.build[:-1] if plan.is_early else plan.build
    return (
        len(plan.stores) == 1
        and build[-1] is plan.stores[0]
        and len(plan.returns) == 1 + plan.is_early
        and all(node.names == [plan.slot] for node in _globals_in(plan))
        and builds_surely(plan.stores[0].value)
        and plan.is_slot_private
        and _begins_with_guard(plan)
        and _is_apart(plan)
        and _is_decorator_free(plan.module)
    )


def _globals_in(plan: Plan) -> list[ast.Global]:
    return [node for node in plan.function.body if isinstance(node, ast.Global)]


def _begins_with_guard(plan: Plan) -> bool:
    """Tell whether nothing runs before the guard: it would run for the first caller only."""
    before = plan.function.body[: plan.function.body.index(plan.guard)]
    rest = [node for node in before if not isinstance(node, ast.Global)]
    return all(isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant) for n in rest)


def _is_apart(plan: Plan) -> bool:
    """Tell whether nothing else, no code and no comment, stands where something is left out."""
    store, last = plan.stores[0], plan.function.body[-1]
    lines = lines_of(plan.module.text)
    dropped = "".join(line for first, end in _superfluous(plan) for line in lines[first - 1 : end])
    # A comment right above the binding would stand above something else.
    above = lines[max(plan.binding.lineno - 2, 0)]
    # `return` takes the place of what stands before the sign of equality, on its line.
    equals = lines[store.lineno - 1].encode()[store.targets[0].end_col_offset :]
    return (
        _MORE.isdisjoint(dropped)
        and not above.startswith("#")
        and last.lineno > last_line(store)
        and b"=" in equals
    )


def _is_decorator_free(module: Module) -> bool:
    """Tell whether `lazy_singleton` means what it should, or nothing yet."""
    meant = "plugin_utils.lazy_singleton"
    defined = {*module.bindings, *module.functions, *module.classes}
    return module.imports.get(_DECORATOR, meant) == meant and _DECORATOR not in defined


def _name_in(test: ast.expr) -> ast.Name:
    return next(node for node in ast.walk(test) if isinstance(node, ast.Name))


def _test(plan: Plan) -> str:
    """Return the guard's condition, about the local."""
    copy = ast.parse(ast.unparse(plan.guard.test), mode="eval").body
    _name_in(copy).id = plan.local
    return ast.unparse(copy)
