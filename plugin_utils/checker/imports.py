"""Adding the one import that a rewrite needs, where a reader would have put it."""

from __future__ import annotations

import ast

from plugin_utils.checker.edits import Edits
from plugin_utils.checker.fixable import Plan
from plugin_utils.checker.syntax import ends_line

__all__ = ("import_lazy_singleton", "import_threading")


def import_threading(plan: Plan, edits: Edits) -> None:
    """Make sure that `threading` is imported before the slot, in the order of the alphabet."""
    plain = [node for node in _imports(plan, plan.binding) if isinstance(node, ast.Import)]
    names = [(node, alias) for node in plain for alias in node.names]
    if any(alias.name == "threading" and alias.asname is None for _, alias in names):
        return
    earlier = [node for node, alias in names if alias.name < "threading"]
    if earlier:
        edits.insert_after(earlier[-1].end_lineno or earlier[-1].lineno, "import threading")
    else:
        _insert_first(plan, edits, "import threading")


def import_lazy_singleton(plan: Plan, edits: Edits) -> None:
    """Make sure that `lazy_singleton` is imported before the accessor, after all other imports."""
    found = _imports(plan, plan.function)
    if any(
        (alias.asname or alias.name) == "lazy_singleton" for node in found for alias in node.names
    ):
        return
    line = "from plugin_utils import lazy_singleton"
    if found:
        edits.insert_after(found[-1].end_lineno or found[-1].lineno, line)
    else:
        _insert_first(plan, edits, line)


def _imports(plan: Plan, before: ast.stmt) -> list[ast.Import | ast.ImportFrom]:
    """Return the imports at module level that come before a statement."""
    return [
        node
        for node in plan.module.tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        and node.lineno < before.lineno
        and ends_line(node, plan.module.tree.body)
    ]


def _insert_first(plan: Plan, edits: Edits, line: str) -> None:
    """Insert `line` before the first statement that may not stand above it."""
    body = plan.module.tree.body
    first = next(node for node in body if not _stays_first(node))
    decorators: list[ast.expr] = getattr(first, "decorator_list", [])
    is_import = isinstance(first, ast.Import | ast.ImportFrom)
    blank = [] if is_import else [""]
    edits.insert_before(min([first.lineno, *(n.lineno for n in decorators)]), line, *blank)


def _stays_first(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.ImportFrom(module="__future__"):
            return True
        case _:
            return False
