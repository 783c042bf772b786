"""Decide how a block fared, by its marks. Runs in the block's process, after the block."""

import ast
import importlib
import re
import traceback
from collections import ChainMap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from _pytest._code import Traceback

from plugin_utils.docs_testing._block import Block, BlockError, PageError, Report
from plugin_utils.docs_testing._marks import parse

__all__ = ("judge", "skip_reason", "wrong_output")

OURS = Path(__file__).parent
Failures = Sequence[BaseException]


def skip_reason(block: Block) -> str | None:
    """Say why the block must not run here, if so.

    Raises:
        BlockError: A mark cannot be evaluated.
    """
    if block.importorskip:
        try:
            importlib.import_module(block.importorskip)
        except ImportError as error:
            return str(error)
    for source in block.marks:
        name = parse(source).name
        if name in ("skip", "skipif"):
            mark = _evaluate(block, source, {})
            if name == "skip" or any(mark.args):
                return str(mark.kwargs.get("reason", source))
    return None


def judge(block: Block, failures: Failures, printed: str, names: Mapping[str, Any]) -> Report:
    """Weigh what failed, and what was printed, against what the page says.

    Args:
        block: The block.
        failures: What the block raised, in its main thread first.
        printed: Its standard output.
        names: The block's globals, in which its marks are read.

    Raises:
        BlockError: A mark cannot be evaluated.
    """
    mismatch = wrong_output(block, printed)
    for source in block.marks:
        name = parse(source).name
        if name == "goes_wrong":
            return _goes_wrong(block, failures, mismatch, _evaluate(block, source, names))
        if name == "xfail":
            report = _xfail(block, [*failures, *mismatch], _evaluate(block, source, names))
            if report:
                return report
    if not failures and not mismatch:
        return Report("passed")
    return Report("failed", _describe(block, [*failures, *mismatch]))


def wrong_output(block: Block, printed: str) -> list[BlockError]:
    """Compare what was printed with the output that the page shows, if it does."""
    wanted = block.expected_output
    if wanted is None:
        return []
    ignored = r"\s+" if block.ignore_whitespace else r"(?!)"
    if re.sub(ignored, "", wanted) == re.sub(ignored, "", printed):
        return []
    message = f"the page shows this output:\n{wanted}\nbut the block printed:\n{printed}"
    return [BlockError(block.output_place, message)]


def _goes_wrong(
    block: Block, failures: Failures, mismatch: Sequence[BlockError], mark: pytest.Mark
) -> Report:
    wanted = mark.kwargs.get("raises", ())  # nothing that a block raises is a hang
    if failures and all(_is(failure, wanted) for failure in failures):
        return Report("failed", _describe(block, mismatch)) if mismatch else Report("passed")
    happened = _describe(block, failures) if failures else "nothing failed"
    return Report("failed", f"{block.place}: was to go wrong by {mark}, but:\n{happened}")


def _xfail(block: Block, failures: Failures, mark: pytest.Mark) -> Report | None:
    """Judge by pytest's rules, but strictly unless `strict=False`: a page that says so means it."""
    if mark.args and not any(mark.args):
        return None
    if not failures:
        if mark.kwargs.get("strict", True):
            return Report("failed", f"{block.place}: passed, but is marked as failing")
        return Report("passed")
    wanted = mark.kwargs.get("raises", BaseException)
    if all(_is(failure, wanted) for failure in failures):
        return Report("xfailed", str(mark.kwargs.get("reason", "")))
    return None


def _is(failure: BaseException, wanted: Any) -> bool:
    """Tell whether it is one of the wanted classes, or reports one of them."""
    return isinstance(failure, wanted) or (
        isinstance(failure, BlockError) and isinstance(failure.__cause__, wanted)
    )


def _describe(block: Block, failures: Failures) -> str:
    return "\n\n".join(_describe_one(block, failure) for failure in failures)


def _describe_one(block: Block, failure: BaseException) -> str:
    """Show the failure with its traceback, from the page's code on."""
    if isinstance(failure, BlockError | PageError):
        return str(failure)
    files = {line.file for line in block.lines}

    def shown(info: pytest.ExceptionInfo[BaseException]) -> Traceback:
        on_page = (i for i, entry in enumerate(info.traceback) if str(entry.path) in files)
        return info.traceback[next(on_page, 0) :]

    info = pytest.ExceptionInfo[BaseException].from_exception(failure)
    if all(OURS in Path(entry.path).parents for entry in info.traceback):
        return "".join(traceback.format_exception_only(failure)).strip()
    return str(info.getrepr(style="short", tbfilter=shown))


def _evaluate(block: Block, source: str, names: Mapping[str, Any]) -> pytest.Mark:
    """Evaluate a mark; what it names is found in the block, in `builtins`, or imported."""
    modules: dict[str, Any] = {}
    for node in ast.walk(ast.parse(source, mode="eval")):
        if isinstance(node, ast.Name | ast.Attribute):
            dotted = ast.unparse(node)
            with suppress(ImportError):
                importlib.import_module(dotted)
                top = dotted.partition(".")[0]
                modules[top] = importlib.import_module(top)
    try:
        decorator: pytest.MarkDecorator = eval(source, {}, ChainMap(dict(names), modules))
    except Exception as error:
        raise BlockError(block.place, f"the mark {source} cannot be evaluated: {error!r}") from None
    return decorator.mark
