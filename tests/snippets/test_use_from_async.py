"""Two tasks call first, on a loop that runs them in turn: the order is the same every time."""

import asyncio
from types import ModuleType

import pytest

from snippets.fixed import use_from_async
from snippets.racy import use_from_async as racy_use_from_async


def clients_made(module: ModuleType) -> int:
    """Return how many clients two tasks of one loop cause."""

    async def call() -> None:
        await asyncio.gather(module.get_client(), module.get_client())

    before = len(module.Client.made)
    asyncio.run(call())
    return len(module.Client.made) - before


def test_racy_accessor_makes_two_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test and the store stand on two sides of an await."""
    monkeypatch.setattr(racy_use_from_async, "_client", None)
    assert clients_made(racy_use_from_async) == 2


def test_racy_accessor_keeps_what_it_has_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alone, one after the other, two calls share a client: the race needs two at once."""
    client = racy_use_from_async.Client()
    monkeypatch.setattr(racy_use_from_async, "_client", client)
    assert asyncio.run(racy_use_from_async.get_client()) is client


def test_fixed_accessor_makes_one_client() -> None:
    """The second task waits for the first one's client."""
    use_from_async.get_client.reset()
    assert clients_made(use_from_async) == 1


def test_mains_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file's own demonstration ends as its page says."""
    monkeypatch.setattr(racy_use_from_async, "_client", None)
    monkeypatch.setattr(racy_use_from_async.Client, "made", [])
    with pytest.raises(AssertionError, match="2 clients were made"):
        asyncio.run(racy_use_from_async.main())
    monkeypatch.setattr(use_from_async.Client, "made", [])
    monkeypatch.setattr(use_from_async.Client, "closed", [])
    use_from_async.get_client.reset()
    asyncio.run(use_from_async.main())
