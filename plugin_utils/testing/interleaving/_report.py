"""Shows a schedule as a person would draw it: a column for each thread, time going down."""

from __future__ import annotations

import linecache
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from plugin_utils.testing.interleaving._record import Action, Outcome

__all__ = ("listing",)

_WIDEST = 54  # characters of one column; longer lines are cut
_PLAIN = (bool, int, float, str, bytes, type(None))


class _Row(NamedTuple):
    """A line of source that one thread runs with nothing in between.

    Args:
        thread: Who runs it.
        actions: What was done there.
        partly: Whether other rows show the rest of the line.
    """

    thread: int
    actions: tuple[Action, ...]
    partly: bool


def listing(
    functions: Sequence[Callable[[], object]],
    record: Sequence[Action],
    outcome: Outcome,
    hidden: Collection[str],
) -> str:
    """Return the listing of a schedule.

    Args:
        functions: What the threads ran.
        record: What was done, in order.
        outcome: How it ended.
        hidden: The files whose lines are left out.
    """
    settled = _settled(record, len(functions))
    shown = [action for action in settled if action.code.co_filename not in hidden]
    cells = [(row.thread, _text(row)) for row in _rows(shown)]
    heads = [f"T{thread}: {_name(function)}" for thread, function in enumerate(functions)]
    ends = _ends(outcome)
    widths = [
        max(len(heads[thread]), len(ends[thread]), *(len(t) for own, t in cells if own == thread))
        for thread in range(len(functions))
    ]
    rule = "-+-".join("-" * width for width in widths)
    body = [_line({thread: text}, widths) for thread, text in cells]
    return "\n".join(
        [
            _line(dict(enumerate(heads)), widths),
            rule,
            *body,
            rule,
            _line(dict(enumerate(ends)), widths),
        ]
    )


def _line(cells: dict[int, str], widths: Sequence[int]) -> str:
    padded = [cells.get(column, "").ljust(width) for column, width in enumerate(widths)]
    return " | ".join(padded).rstrip()


def _rows(record: Sequence[Action]) -> Iterator[_Row]:
    """Yield the lines in the order in which they were run."""
    parts = [
        (thread, tuple(actions))
        for (thread, _), actions in groupby(record, key=lambda action: (action.thread, action.spot))
    ]
    for place, (thread, actions) in enumerate(parts):
        before = [other for owner, other in reversed(parts[:place]) if owner == thread]
        after = [other for owner, other in parts[place + 1 :] if owner == thread]
        rest = _other_part(
            actions, after
        )  # which says itself that it goes on, if it is out of sight
        partly = bool(_other_part(actions, before) or not all(action.within for action in rest))
        yield _Row(thread, actions, partly)


def _settled(record: Sequence[Action], threads: int) -> Iterator[Action]:
    """Yield the actions, those that do not matter right before the thread's next one that does.

    Nothing depends on when they were done, so they may stand where they read best.
    """
    to_come = Counter(action.thread for action in record if action.matters)
    waiting: list[list[Action]] = [[] for _ in range(threads)]
    for action in record:
        waiting[action.thread].append(action)
        to_come[action.thread] -= action.matters
        if action.matters or not to_come[action.thread]:
            yield from waiting[action.thread]
            waiting[action.thread].clear()


def _other_part(
    actions: tuple[Action, ...], others: Sequence[tuple[Action, ...]]
) -> tuple[Action, ...]:
    """Return the next row of the same call, among the thread's others, if it is of this line."""
    for other in others:
        if other[0].depth <= actions[0].depth:  # less: the call has ended, or had not begun
            return other if other[0].spot == actions[0].spot else ()
    return ()


def _text(row: _Row) -> str:
    action = row.actions[0]
    source = linecache.getline(action.code.co_filename, action.line).rstrip()
    if action.depth:
        text = f"{'    ' * action.depth}{action.code.co_name}: {source.strip()}"
    else:
        first = linecache.getline(action.code.co_filename, action.code.co_firstlineno)
        body = len(first) - len(first.lstrip()) + 4
        text = source.strip() if source[:body].strip() else source[body:]
    releases = all(action.verb == "releases" for action in row.actions)
    remark = f"  # {_what(row.actions)}" if row.partly or releases else ""
    room = _WIDEST - len(remark)
    return (text if len(text) <= room else f"{text[: room - 1]}…") + remark


def _what(actions: Sequence[Action]) -> str:
    actions = [action for action in actions if not action.within]
    if not actions:
        return "goes on"
    telling = [action for action in actions if action.matters] or actions
    telling = [action for action in telling if not action.touch.is_wild] or telling
    return ", ".join(dict.fromkeys(f"{action.verb} {action.touch.name}" for action in telling))


def _name(function: Callable[[], object]) -> str:
    return getattr(function, "__qualname__", type(function).__name__).rpartition("<locals>.")[2]


def _ends(outcome: Outcome) -> list[str]:
    """Tell how each thread ended; instances by a number, since an address tells nothing."""
    instances: list[object] = []
    ends: list[str] = []
    for value, error, stuck in zip(outcome.values, outcome.errors, outcome.stuck, strict=True):
        if stuck:
            ends.append("waits for ever")
        elif error:
            ends.append(f"raised {type(error).__name__}")
        elif isinstance(value, _PLAIN):
            ends.append(f"returned {value!r}")
        else:
            if not any(value is known for known in instances):
                instances.append(value)
            number = next(n for n, known in enumerate(instances, 1) if known is value)
            ends.append(f"returned {type(value).__name__} no. {number}")
    return ends
