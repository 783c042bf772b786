"""`python -m tests.checker.labels.enumerate_sites FOLDER SEED COUNT [tested]`: draw sites to judge.

It knows nothing of what is racy. A site is any function that, on some condition, stores into
something that its whole process shares: a module global, an attribute of a module or a class, an
item of a dict or list that stands in a module or class body; and a cached function of at most one
argument. At most `COUNT` sites are drawn from each package in FOLDER, as the seed says.

Most of these are no lazily built objects. With `tested`, only those are drawn whose function also
looks at the slot, as it must to build it once; the environment and instances are left out.
"""

from __future__ import annotations

import ast
import csv
import random
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ("draw", "sites_in")

Function = ast.FunctionDef | ast.AsyncFunctionDef
Site = tuple[int, str, str, bool]
"""Line, function, slot, and whether the function also looks at the slot."""

_CONDITIONS = (ast.If, ast.IfExp, ast.Try, ast.TryStar, ast.Match, ast.BoolOp, ast.While)
_TESTS = frozenset({"test", "tests", "testing"})


def sites_in(module: ast.Module) -> Iterator[Site]:
    """Yield the sites of one module, each slot of a function once."""
    shared = _names_stored(module.body)
    modules = _modules_imported(module)
    classes = {node.name for node in ast.walk(module) if isinstance(node, ast.ClassDef)}
    called_on_condition = {
        call.func.id
        for branch in ast.walk(module)
        if isinstance(branch, ast.If)
        for call in ast.walk(branch)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    }
    for path, function, fields in _functions(module, "", frozenset()):
        if _is_cached(function):
            yield function.lineno, path, function.name, True
        if function.name not in called_on_condition and not _has_condition(function):
            continue
        seen: set[str] = set()
        own = _own_names(function)
        for target in sorted(_targets(function), key=lambda node: node.lineno):
            slot = _slot(target, shared, modules | classes, own, fields)
            if slot and slot not in seen:
                seen.add(slot)
                yield target.lineno, path, slot, _is_looked_at(function, target, slot)


def draw(
    folder: Path, seed: int, count: int, *, tested: bool
) -> Iterator[tuple[str, str, str, Site]]:
    """Yield package, version, file and site, at most `count` from each package."""
    for package in sorted(folder.iterdir()):
        found = sorted(
            (path.relative_to(package).as_posix(), site)
            for path in sorted(package.rglob("*.py"))
            if not _TESTS & set(path.relative_to(package).parts)
            for site in sites_in(_parse(path))
            if site[3] or not tested
        )
        name, _, version = package.name.rpartition("-")
        chance = random.Random(f"{seed} {name}")  # noqa: S311 - repeatable on purpose, no secret
        for file, site in sorted(chance.sample(found, min(count, len(found)))):
            yield name, version, file, site


def _parse(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_bytes())
    except SyntaxError:
        return ast.Module([], [])


def _functions(
    node: ast.AST, path: str, fields: frozenset[str]
) -> Iterator[tuple[str, Function, frozenset[str]]]:
    """Yield every function with its path, and the fields in the body of the class around it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            yield path + child.name, child, fields
            yield from _functions(child, f"{path}{child.name}.", fields)
        elif isinstance(child, ast.ClassDef):
            inner = frozenset(_names_stored(child.body))
            yield from _functions(child, f"{path}{child.name}.", inner)
        else:
            yield from _functions(child, path, fields)


def _names_stored(body: list[ast.stmt]) -> set[str]:
    names: set[str] = set()
    for statement in body:
        if not isinstance(statement, Function | ast.ClassDef):
            names |= {
                node.id
                for node in ast.walk(statement)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            }
    return names


def _modules_imported(module: ast.Module) -> set[str]:
    return {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.walk(module)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }


def _own_nodes(function: Function) -> Iterator[ast.AST]:
    """Yield what is in `function` and in no function or class inside it."""
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, Function | ast.ClassDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))


def _own_names(function: Function) -> set[str]:
    declared: set[str] = set()
    stored = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
    for node in _own_nodes(function):
        if isinstance(node, ast.Global):
            declared |= set(node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            stored.add(node.id)
    return stored - declared


def _has_condition(function: Function) -> bool:
    return any(isinstance(node, _CONDITIONS) for node in _own_nodes(function))


def _targets(function: Function) -> Iterator[ast.expr]:
    for node in _own_nodes(function):
        match node:
            case ast.Call(func=ast.Attribute(value=base, attr="setdefault") as method):
                yield ast.Subscript(base, method, ast.Store(), lineno=node.lineno)
            case ast.Name() | ast.Attribute() | ast.Subscript() if isinstance(node.ctx, ast.Store):
                yield node
            case _:
                pass


def _slot(
    target: ast.expr, shared: set[str], owners: set[str], own: set[str], fields: frozenset[str]
) -> str | None:
    """Return the name of what `target` stores into, if the process shares it."""
    if isinstance(target, ast.Name):
        return target.id if target.id not in own else None
    if isinstance(target, ast.Subscript):
        base = target.value
        if isinstance(base, ast.Name):
            return base.id if base.id in shared - own else None
        if isinstance(base, ast.Attribute) and ast.unparse(base.value) == "self":
            return base.attr if base.attr in fields else None
        return _slot(base, shared, owners, own, fields)
    if isinstance(target, ast.Attribute):
        owner = ast.unparse(target.value)
        is_class = owner in {"cls", "self.__class__", "type(self)", "__class__"}
        if is_class or (owner in owners and owner not in own):
            return f"{owner}.{target.attr}"
    return None


def _is_looked_at(function: Function, target: ast.expr, slot: str) -> bool:
    """Tell whether `function` reads what it stores into, and this is no field or variable."""
    if slot == "os.environ" or ast.unparse(target).startswith("self."):
        return False
    nodes = list(_own_nodes(function))
    bases = [
        node.value
        for node in nodes
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
    ]
    return any(
        isinstance(node, ast.Name | ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and node not in bases
        and ast.unparse(node).rpartition(".")[2] == slot.rpartition(".")[2]
        for node in nodes
    )


def _is_cached(function: Function) -> bool:
    arguments = [one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)]
    names = {ast.unparse(one).partition("(")[0] for one in function.decorator_list}
    is_cached = any(name.rpartition(".")[2] in {"cache", "lru_cache"} for name in names)
    return is_cached and len(set(arguments) - {"self", "cls"}) <= 1


def main() -> None:
    """Print the sites drawn, in the columns of the labels that are known before judging."""
    folder, seed, count, *tested = sys.argv[1:]
    rows = csv.writer(sys.stdout)
    drawn = draw(Path(folder), int(seed), int(count), tested=tested == ["tested"])
    for package, version, file, (line, function, slot, _) in drawn:
        rows.writerow((package, version, file, line, function, slot))


if __name__ == "__main__":
    main()
