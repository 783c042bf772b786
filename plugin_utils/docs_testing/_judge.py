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

__all__ = ("judge", "skip_reason")

OURS = Path(__file__).parent
Failures = Sequence[BaseException]


def skip_reason(block: Block) -> str | None:
    """Say why the block must not run here, if so."""
    if block.importorskip:
        try:
            importlib.import_module(block.importorskip)
        except ImportError as error:
            return str(error)
    for source in block.marks:
        name = parse(source).name
        if name in ("skip", "skipif"):
            mark = _evaluate(source, {})
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
    """
    failures = [*failures, *_wrong_output(block, printed)]
    for source in block.marks:
        name = parse(source).name
        if name == "goes_wrong":
            return _goes_wrong(block, failures, _evaluate(source, names))
        if name == "xfail":
            report = _xfail(block, failures, _evaluate(source, names))
            if report:
                return report
    if not failures:
        return Report("passed")
    return Report("failed", "\n\n".join(_describe(failure, block) for failure in failures))


def _wrong_output(block: Block, printed: str) -> list[BlockError]:
    wanted = block.expected_output
    if wanted is None:
        return []
    squeeze = r"\s+" if block.ignore_whitespace else r"(?!)"
    if re.sub(squeeze, "", wanted) == re.sub(squeeze, "", printed):
        return []
    message = f"the page shows this output:\n{wanted}\nbut the block printed:\n{printed}"
    return [BlockError(block.place, message)]


def _goes_wrong(block: Block, failures: Failures, mark: pytest.Mark) -> Report:
    kind = mark.args[0]
    if kind == "hangs":
        return Report("failed", f"{block.place}: was to hang, but ended{_but(block, failures)}")
    wanted = mark.kwargs["raises"]
    if failures and all(_is(failure, wanted) for failure in failures):
        return Report("passed")
    text = f"{block.place}: goes_wrong({kind!r}) was to raise {wanted!r}{_but(block, failures)}"
    return Report("failed", text)


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


def _but(block: Block, failures: Failures) -> str:
    return (
        ";\n" + "\n".join(_describe(failure, block) for failure in failures)
        if failures
        else "; nothing failed"
    )


def _describe(failure: BaseException, block: Block) -> str:
    """Show the failure with its traceback, from the page's code on."""
    if isinstance(failure, BlockError | PageError):
        return str(failure)
    files = {line.file for line in block.lines}

    def shown(info: pytest.ExceptionInfo[BaseException]) -> Traceback:
        on_page = (i for i, entry in enumerate(info.traceback) if str(entry.path) in files)
        return info.traceback[next(on_page, 0) :]

    info = pytest.ExceptionInfo.from_exception(failure)
    if all(OURS in Path(entry.path).parents for entry in info.traceback):
        return "".join(traceback.format_exception_only(failure)).strip()
    return str(info.getrepr(style="short", tbfilter=shown))


def _evaluate(source: str, names: Mapping[str, Any]) -> pytest.Mark:
    """Evaluate a mark; what it names is found in the block, in `builtins`, or imported."""
    modules: dict[str, Any] = {}
    for node in ast.walk(ast.parse(source, mode="eval")):
        if isinstance(node, ast.Name | ast.Attribute):
            dotted = ast.unparse(node)
            with suppress(ImportError):
                importlib.import_module(dotted)
                top = dotted.partition(".")[0]
                modules[top] = importlib.import_module(top)
    decorator: pytest.MarkDecorator = eval(source, {}, ChainMap(dict(names), modules))
    return decorator.mark
