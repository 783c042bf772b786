"""A handler that runs twice, each time on a loop of its own."""

import asyncio

import pytest

from snippets.fixed import two_event_loops
from snippets.racy import two_event_loops as racy_two_event_loops


def test_shared_client_answers_on_the_first_loop_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second loop is refused by what the client waits with."""
    monkeypatch.setattr(racy_two_event_loops, "_client", None)
    assert asyncio.run(racy_two_event_loops.handle()) == "42"
    with pytest.raises(RuntimeError, match="different event loop"):
        asyncio.run(racy_two_event_loops.handle())


def test_client_per_loop_answers_on_each() -> None:
    """Every loop makes its own client and can use it."""
    assert [asyncio.run(two_event_loops.handle()) for _ in range(3)] == ["42"] * 3
