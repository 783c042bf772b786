"""Collects what a function touches, in the main thread, as the explorer would see it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from types import CodeType

from plugin_utils.testing.interleaving._instrument import Instrument, nested
from plugin_utils.testing.interleaving._points import table
from plugin_utils.testing.interleaving._touch import NOTHING, Touch

__all__ = ("touches",)


def touches(function: Callable[..., object], *arguments: object) -> list[Touch]:
    """Return what each point of a function touches, in order, its calls' points included."""
    seen: list[Touch] = []
    cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    functions = [function, *(held for held in cells if callable(held))]
    for code in nested(map(_code, functions)):
        table(code)  # now: what a trace function calls is hidden from other tracers, coverage's too
    instrument = Instrument(
        files={_code(function).co_filename},
        ours={__file__},
        reach=lambda _frame, touch: None if touch is NOTHING else seen.append(touch),
    )
    with ExitStack() as stack:
        stack.enter_context(instrument.installed(nested(map(_code, functions))))
        stack.enter_context(instrument.thread())
        function(*arguments)
    return seen


def _code(function: Callable[..., object]) -> CodeType:
    code = getattr(function, "__code__", None)
    assert isinstance(code, CodeType)
    return code
