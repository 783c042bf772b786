"""`python -m tests.checker.labels.rewriting FOLDER`: what `--fix` does to a whole project.

Every fixable accessor of a copy of hermes-agent is rewritten. Each changed file must parse, the
rewritten accessors must be clean, and a second run must change nothing. Then the accessors race,
as they were and as they are, with stubs in the place of everything they use.
"""

from __future__ import annotations

import ast
import builtins
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from plugin_utils.checker import Finding, check_source, fix_source
from plugin_utils.checker.run import check_file
from plugin_utils.checker.source import read

PACKAGE = "hermes-agent-0.19.0"
THREADS = 8
RACES_AT_LEAST = 10


class Stub:
    """Stands for anything: a module, a class, a client; it is never `None` and never ends."""

    def __call__(self, *_args: object, **_kwargs: object) -> Stub:
        """Give one more."""
        return Stub()

    def __getattr__(self, name: str) -> Stub:
        """Have every attribute that has no meaning to Python itself."""
        if name.startswith("__"):
            raise AttributeError(name)
        return Stub()

    def __iter__(self) -> Iterator[Stub]:
        """Come apart into two, as most results that are taken apart do."""
        return iter((Stub(), Stub()))

    def __len__(self) -> int:
        """Have as many parts."""
        return 2

    def __enter__(self) -> Self:
        """Be a context."""
        return self

    def __exit__(self, *_error: object) -> None:
        """End the context."""


def fix_all(folder: Path) -> list[tuple[Path, list[Finding], str, str]]:
    """Rewrite the files under `folder`; return each with its findings, and before and after."""
    changed: list[tuple[Path, list[Finding], str, str]] = []
    for path in sorted(folder.rglob("*.py")):
        found = check_file(str(path))
        fixable = [f for f in found if f.fixable] if isinstance(found, list) else []
        if fixable:
            source = read(str(path))
            after = fix_source(source.text, fixable)
            path.write_bytes(after.encode(source.encoding))
            changed.append((path, fixable, source.text, after))
    return changed


def problems_of(fixed: list[Finding], after: str) -> list[str]:
    """Return what is wrong with a rewritten file."""
    ast.parse(after)
    again = check_source(after)
    left = {(f.function, f.name) for f in again} & {(f.function, f.name) for f in fixed}
    problems = [f"{function} is still reported for {name}" for function, name in sorted(left)]
    if fix_source(after, again) != after:
        problems.append("a second run changes it again")
    return problems


def builds_in_race(text: str, function: str, slot: str, limit: float) -> int:
    """Run an accessor in several threads, with stubs around it; return how often it stored."""
    stores: list[None] = []
    meet = threading.Barrier(THREADS)

    def storing() -> None:
        stores.append(None)
        with suppress(threading.BrokenBarrierError):
            meet.wait(limit)

    alone = _alone(text, function, slot)
    code = compile(alone, f"<{function}>", "exec")
    namespace: dict[str, Any] = _stubs(code.co_consts[0].co_names) | {
        "__builtins__": vars(builtins) | {"__import__": Stub()},
        "threading": threading,
        "storing": storing,
        slot: None,
        **{name: threading.RLock() for name in _held_in(alone)},
    }
    exec(code, namespace)  # noqa: S102 - one function, with stubs for all that it could reach
    threads = [threading.Thread(target=namespace[function]) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return len(stores)


def _held_in(module: ast.Module) -> Iterator[str]:
    """Yield the names that a `with` enters: in an accessor, the lock of its slot."""
    for node in ast.walk(module):
        if isinstance(node, ast.withitem) and isinstance(node.context_expr, ast.Name):
            yield node.context_expr.id


def _stubs(names: tuple[str, ...]) -> dict[str, Any]:
    return {name: Stub() for name in names if not hasattr(builtins, name)}


def _alone(text: str, function: str, slot: str) -> ast.Module:
    """Return the accessor alone, with a call of `storing()` before each store to the slot."""
    nodes = ast.parse(text).body
    (found,) = (n for n in nodes if isinstance(n, ast.FunctionDef) and n.name == function)
    found.returns = None
    module = ast.Module([_Noting(slot).visit(found)], [])
    return ast.fix_missing_locations(module)


class _Noting(ast.NodeTransformer):
    def __init__(self, slot: str) -> None:
        self.slot = slot

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        """Put the call before the store."""
        stores = any(isinstance(t, ast.Name) and t.id == self.slot for t in node.targets)
        return [*ast.parse("storing()").body, node] if stores else [node]


def main() -> int:
    """Print the figures; return 1 if a rewrite is not sound, or too few of them could race."""
    source = Path(sys.argv[1]) / PACKAGE
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(source, copy, dirs_exist_ok=True)
        changed = fix_all(Path(copy))
    problems = [p for _, fixed, _, after in changed for p in problems_of(fixed, after)]
    for problem in problems:
        print("PROBLEM", problem)
    fixed = [(f, before, after) for _, found, before, after in changed for f in found]
    print(f"{len(fixed)} accessors in {len(changed)} files rewritten, {len(problems)} problems")
    ended = sum(_ends_race(*each) for each in fixed)
    print(f"{ended} raced with {THREADS} threads: {THREADS} builds before, 1 after")
    return 1 if problems or ended < RACES_AT_LEAST else 0


def _ends_race(finding: Finding, before: str, after: str) -> bool:
    """Tell whether the accessor built many times as it was and once as it is."""
    first = builds_in_race(before, finding.function, finding.name, limit=20)
    then = builds_in_race(after, finding.function, finding.name, limit=0.2)
    print(f"  {finding.function}: {first} builds before, {then} after")
    return first == THREADS and then == 1


if __name__ == "__main__":
    sys.exit(main())
