"""Looks at the explorer from outside: this file is never watched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from types import CodeType, ModuleType

from plugin_utils.testing.interleaving import Model, explore
from plugin_utils.testing.interleaving._instrument import Instrument, nested
from plugin_utils.testing.interleaving._points import table
from plugin_utils.testing.interleaving._touch import NOTHING, Touch

__all__ = ("failure", "nobody", "touches")


def failure(
    model: Model,
    *,
    bound: int | None = None,
    watch: Sequence[ModuleType] = (),
    allow: tuple[type[BaseException], ...] = (),
) -> str | None:
    """Return what an exploration finds, without what pytest adds to a failed assertion."""
    found = explore(model, bound=bound, watch=watch, allow=allow).failure
    return found and found.partition("\n")[0]


def nobody(*_: object) -> set[int]:
    """Return no thread. In the place of `Search._sleepers` it keeps all threads awake."""
    return set()


def touches(function: Callable[..., object], *arguments: object) -> list[Touch]:
    """Return what each point of a function touches, in order, its calls' points included.

    It runs in the main thread, and what it touches is collected as the explorer would see it.
    """
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
