"""Show what a block raised, as pytest shows it. Runs in the block's process, when it has failed."""

from collections.abc import Sequence
from pathlib import Path
from traceback import format_exception_only

import pytest
from _pytest._code import Traceback

from plugin_utils.docs_testing._block import Block, BlockError, Job, PageError

__all__ = ("describe",)

OURS = Path(__file__).parent


def describe(file: str, failures: Sequence[BaseException]) -> list[str]:
    """Show the failures of the block of a job."""
    block = Job.load(file).block
    return [_describe(block, failure) for failure in failures]


def _describe(block: Block, failure: BaseException) -> str:
    """Show the failure with its traceback, from the page's code on."""
    if isinstance(failure, BlockError | PageError):
        return str(failure)
    files = {line.file for line in block.lines}

    def shown(info: pytest.ExceptionInfo[BaseException]) -> Traceback:
        on_page = (i for i, entry in enumerate(info.traceback) if str(entry.path) in files)
        return info.traceback[next(on_page, 0) :]

    info = pytest.ExceptionInfo[BaseException].from_exception(failure)
    if all(OURS in Path(entry.path).parents for entry in info.traceback):
        return "".join(format_exception_only(failure)).strip()
    return str(info.getrepr(style="short", tbfilter=shown))
