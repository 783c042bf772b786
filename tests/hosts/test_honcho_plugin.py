"""Hermes's own Honcho plugin, with our helpers in the place of its helper module."""

import pytest

from tests.support import child

pytestmark = pytest.mark.usefixtures("hermes_home")
LIMIT = 120.0
OURS = "plugin_utils"
HERMES = "plugins.plugin_utils"
WITHOUT_LOCK = "tests.hosts.slots"


def _twenty_sessions(helper: str, clients: int) -> None:
    import sys
    from importlib import import_module
    from typing import Any

    from plugin_utils.testing import run_together
    from tests.hosts.honcho_cases import HERMES, Honcho
    from tests.support.honcho_server import HonchoServer

    sys.modules["plugins.plugin_utils"] = import_module(helper)
    honcho = Honcho(HERMES)
    load = import_module("plugins.memory").load_memory_provider
    waiting = [(f"session-{number}", load("honcho")) for number in range(20)]
    providers = [provider for _, provider in waiting]

    def start_a_session() -> None:
        name, provider = waiting.pop()
        provider.initialize(name, user_id=f"{name}-user")

    with HonchoServer() as server:
        # In this mode a session is ready when `initialize` returns.
        mode: dict[str, Any] = {"recallMode": "tools", "initOnSessionStart": True}
        honcho.write(baseUrl=server.url, sessionStrategy="per-session", **mode)
        run_together(20, start_a_session, timeout=90)
        assert len(honcho.built) == clients
        for provider in providers:
            provider.sync_turn("buy milk", "noted")
        for provider in providers:
            provider.shutdown()
        stored = [path for path in server.paths() if path.endswith("/messages")]
        assert len(set(stored)) == len(stored) == 20


@pytest.mark.parametrize(
    ("helper", "clients"), [(OURS, 1), (HERMES, 1), (WITHOUT_LOCK, 20)], ids=str
)
def test_twenty_sessions_share_one_client(helper: str, clients: int) -> None:
    """Twenty sessions start together and store their turns. Without a lock each has a client."""
    child.run(_twenty_sessions, helper, clients, limit=LIMIT)


def _read_during_reset(helper: str, whole: bool) -> None:  # noqa: FBT001 - passed to a child process
    import sys
    import weakref
    from concurrent.futures import ThreadPoolExecutor
    from importlib import import_module

    from tests.hosts.honcho_cases import HERMES, Honcho

    sys.modules["plugins.plugin_utils"] = import_module(helper)
    honcho = Honcho(HERMES)
    honcho.write()
    seen: list[object] = []
    with ThreadPoolExecutor(1) as reader:

        def read() -> None:
            seen.append(reader.submit(honcho.get).result(60))

        # Dropping the last reference to a client runs this: code of anybody's can, in its place.
        weakref.finalize(honcho.get(), read)
        honcho.built.clear()
        honcho.reset()
    assert [type(client).__name__ for client in seen] == ["Honcho" if whole else "NoneType"]


@pytest.mark.parametrize(("helper", "whole"), [(OURS, True), (HERMES, False)], ids=str)
def test_no_torn_read_during_a_reset(helper: str, whole: bool) -> None:  # noqa: FBT001 - a parameter
    """While a reset drops a client, another thread asks: it gets a client, from Hermes's None."""
    child.run(_read_during_reset, helper, whole, limit=LIMIT)
