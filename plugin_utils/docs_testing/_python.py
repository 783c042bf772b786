"""Run a Python block so that its code has the file name and the line numbers of the page.

A block may hold lines of several files. A code object has one file name, so the block is compiled
statement by statement, each under the file of its first line; a line in it that comes from another
file counts as the line before it.
"""

import __future__

import ast
import asyncio
import inspect
import warnings
from collections.abc import Iterator, Sequence
from doctest import DONT_ACCEPT_TRUE_FOR_1, ELLIPSIS, SKIP, DocTestParser, DocTestRunner, Example
from itertools import groupby
from operator import itemgetter
from typing import Any

from plugin_utils.docs_testing import _asserts
from plugin_utils.docs_testing._block import BlockError, Place

__all__ = ("run_doctest", "run_python")

_FUTURES: int = sum(
    {getattr(__future__, name).compiler_flag for name in __future__.all_feature_names}
)


def run_python(
    code: str, places: Sequence[Place], namespace: dict[str, Any], *, details: bool
) -> None:
    """Execute the block in `namespace`; it may use `await` outside a function.

    Args:
        code: The block.
        places: Where each of its lines comes from.
        namespace: The block's globals.
        details: Whether a failing `assert` says what it compared, as in a test. That changes the
            text of the error, so it is off for a block whose output is compared.
    """
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    runner: asyncio.Runner | None = None
    try:
        for file, module in _modules(code, places):
            if details:
                _asserts.explain(module, file)
            part = compile(module, file, "exec", flags=flags, dont_inherit=True)
            flags |= part.co_flags & _FUTURES
            if part.co_flags & inspect.CO_COROUTINE:
                runner = runner or asyncio.Runner()
                runner.run(eval(part, namespace))
            else:
                exec(part, namespace)
    finally:
        if runner:
            runner.close()


def run_doctest(code: str, places: Sequence[Place], namespace: dict[str, Any]) -> None:
    """Run the block's prompts and compare what follows them; `...` there stands for any text."""
    first = places[0]
    test = DocTestParser().get_doctest(code, namespace, first.file, first.file, 0)
    _refuse_untested(code, places)
    for example in test.examples:
        example.lineno = places[example.lineno].line - 1
    test.globs = namespace  # not the copy that a doctest makes: the block is `__main__`
    said: list[str] = []
    runner = DocTestRunner(verbose=False, optionflags=ELLIPSIS | DONT_ACCEPT_TRUE_FOR_1)
    if runner.run(test, out=said.append, clear_globs=False).failed:
        raise BlockError(first, "".join(said).strip())


def _refuse_untested(code: str, places: Sequence[Place]) -> None:
    """Refuse what a doctest passes over: text of no prompt, and a prompt that is skipped."""
    line = 0
    for part in DocTestParser().parse(code):
        if isinstance(part, Example):
            if part.options.get(SKIP):
                message = "a prompt that is skipped is not tested; mark the block not_run('...')"
                raise BlockError(places[part.lineno], message)
            line = part.lineno + f"{part.source}{part.want}".count("\n")
        elif part.strip():
            line += part[: len(part) - len(part.lstrip())].count("\n")
            message = (
                f"{part.strip().splitlines()[0]!r} belongs to no prompt, so nothing tests it; "
                "a blank line in an output is written <BLANKLINE>"
            )
            raise BlockError(places[line], message)


def _modules(code: str, places: Sequence[Place]) -> Iterator[tuple[str, ast.Module]]:
    """Parse the block; give each run of statements from one file as a module of its own."""
    try:
        with warnings.catch_warnings(action="ignore"):  # the parts warn, with their own lines
            # Some errors are the whole block's: a `__future__` import that an include puts too low.
            compile(code, "block", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        tree = ast.parse(code)
    except SyntaxError as error:
        raise _relocated(error, places) from None
    moved = [(_move(statement, places), statement) for statement in tree.body]
    for file, body in groupby(moved, key=itemgetter(0)):
        yield file, ast.Module([statement for _, statement in body], [])


def _move(statement: ast.stmt, places: Sequence[Place]) -> str:
    """Give the statement and all in it the lines of its own file, and return that file."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    start = min([statement.lineno, *(each.lineno for each in decorators)])
    file = places[start - 1].file
    lines: dict[int, int] = {}
    for number in range(start, (statement.end_lineno or start) + 1):
        place = places[number - 1]
        lines[number] = place.line if place.file == file else lines[number - 1]
    node: Any  # its class says whether it has a position
    for node in ast.walk(statement):
        if hasattr(node, "lineno"):
            node.lineno, node.end_lineno = lines[node.lineno], lines[node.end_lineno]
            if node.lineno == node.end_lineno:
                node.end_col_offset = max(node.col_offset, node.end_col_offset)
    return file


def _relocated(error: SyntaxError, places: Sequence[Place]) -> SyntaxError:
    """Say where in the page the error is."""
    place = places[min(error.lineno or 1, len(places)) - 1]
    return SyntaxError(error.msg, (place.file, place.line, error.offset, error.text))
