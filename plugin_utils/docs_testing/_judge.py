"""Decide how a block fared, in pytest's process, when the block's own has ended."""

import re
from collections.abc import Sequence

from plugin_utils.docs_testing._block import Block, BlockError, Outcome, Report

__all__ = ("judge", "wrong_output")

LATE = (
    "an error that nobody could catch, when the interpreter ended; it stands below, in the "
    "standard error of the block"
)


def judge(block: Block, outcome: Outcome, late: bytes, mismatch: Sequence[BlockError]) -> Report:
    """Weigh what failed, and what was printed, against what the page says.

    Args:
        block: The block.
        outcome: What it came to in its process.
        late: A byte for each error after that: `w` for one that the page wants, `u` for another.
        mismatch: Where what it printed is not what the page shows.
    """
    if outcome.verdict is not None:
        return Report(outcome.verdict, outcome.text)
    failures = [*outcome.failures, *(f"{block.place}: {LATE}" for _ in late)]
    unwanted = outcome.unwanted or b"u" in late
    differences = [*map(str, mismatch)]
    text = "\n\n".join([*failures, *differences])
    if outcome.expects == "goes_wrong":
        if failures and not unwanted:
            return _failed_if(differences)
        happened = "\n\n".join(failures) or "nothing failed"
        return Report(
            "failed", f"{block.place}: was to go wrong by {outcome.mark}, but:\n{happened}"
        )
    if outcome.expects == "xfail" and not text:
        message = f"{block.place}: passed, but is marked as failing"
        return _failed_if([message] if outcome.strict else [])
    if outcome.expects == "xfail" and not unwanted and (outcome.output_may_differ or not mismatch):
        return Report("xfailed", outcome.reason)
    return _failed_if([*failures, *differences])


def _failed_if(texts: Sequence[str]) -> Report:
    return Report("failed", "\n\n".join(texts)) if texts else Report("passed")


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
