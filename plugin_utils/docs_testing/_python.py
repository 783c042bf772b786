"""Compile a Python block so that its code has the file name and the line numbers of the page.

A block may hold lines of several files. A code object has one file name, so the block is compiled
statement by statement, each under the file of its first line; a line in it that comes from another
file counts as the line before it.
"""

import __future__

import ast
import warnings
from collections.abc import Iterator, Sequence
from doctest import (
    DONT_ACCEPT_TRUE_FOR_1,
    ELLIPSIS,
    SKIP,
    DocTestParser,
    Example,
    OutputChecker,
)
from itertools import groupby
from operator import itemgetter
from types import CodeType
from typing import Any

from plugin_utils.docs_testing import _asserts
from plugin_utils.docs_testing._block import BlockError, Place

__all__ = ("Part", "check_session", "compile_block", "compile_session", "session")

SyntaxIssue = tuple[str, tuple[str, int, int | None, str | None]]
"""The arguments of a `SyntaxError`, for the block's process to raise."""
Part = CodeType | SyntaxIssue
FLAGS = ELLIPSIS | DONT_ACCEPT_TRUE_FOR_1
ODD = (ValueError, RecursionError, MemoryError)
"""What the compiler raises besides: of a null byte, say, or of brackets in too many brackets."""

_FUTURES: int = sum(
    {getattr(__future__, name).compiler_flag for name in __future__.all_feature_names}
)


def compile_block(code: str, places: Sequence[Place], *, details: bool) -> list[Part]:
    """Compile a block; it may use `await` outside a function. Nothing of it is executed.

    Args:
        code: The block.
        places: Where each of its lines comes from.
        details: Whether a failing `assert` says what it compared, as in a test. That changes the
            text of the error, so it is off for a block whose output is compared.
    """
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    parts: list[Part] = []
    with warnings.catch_warnings(action="ignore"):  # they are the block's, and not pytest's
        try:
            for file, module in _modules(code, places):
                if details:
                    _asserts.explain(module, file)
                part = compile(module, file, "exec", flags=flags, dont_inherit=True)
                flags |= part.co_flags & _FUTURES
                parts.append(part)
        except (SyntaxError, *ODD) as error:
            return [_error(error, places)]
    return parts


def session(code: str) -> bool:
    """Tell whether a Python block is a session with prompts."""
    return code.lstrip().startswith(">>> ")


def compile_session(code: str, places: Sequence[Place]) -> list[Part]:
    """Compile each prompt of a session.

    Raises:
        BlockError: The block holds what would not be tested.
    """
    flags, parts = 0, list[Part]()
    _refuse_untested(code, places)
    for example in _examples(code):
        at = places[example.lineno :]
        above = "\n" * (at[0].line - 1)
        try:
            with warnings.catch_warnings(action="ignore"):
                part = compile(
                    f"{above}{example.source}", at[0].file, "single", flags, dont_inherit=True
                )
        except (SyntaxError, *ODD) as error:
            parts.append(_error(error, at))
        else:
            flags |= part.co_flags & _FUTURES
            parts.append(part)
    return parts


def check_session(
    code: str, places: Sequence[Place], said: Sequence[tuple[str, str]]
) -> list[BlockError]:
    """Compare what each prompt printed or raised with what the page shows below it."""
    checker, wrong = OutputChecker(), list[BlockError]()
    for example, (printed, error) in zip(_examples(code), said, strict=False):
        flags = FLAGS
        for flag, on in example.options.items():
            flags = flags | flag if on else flags & ~flag
        if error and example.exc_msg is not None:
            fine = checker.check_output(example.exc_msg, error, flags)
        else:
            fine = not error and checker.check_output(example.want, printed, flags)
        if not fine:
            difference = checker.output_difference(example, printed + error, flags)
            message = f">>> {example.source}{difference}".strip()
            wrong.append(BlockError(places[example.lineno], message))
    return wrong


def _examples(code: str) -> list[Example]:
    return DocTestParser().get_examples(code)


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
    # Some errors are the whole block's: a `__future__` import that an include puts too low.
    compile(code, "block", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    tree = ast.parse(code)
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


def _error(error: Exception, places: Sequence[Place]) -> SyntaxIssue:
    """Say what is wrong with the block, and where in the page."""
    if not isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error}", (places[0].file, places[0].line, None, None)
    place = places[min(error.lineno or 1, len(places)) - 1]
    return error.msg, (place.file, place.line, error.offset, error.text)
