"""One client for each connection: never shared between profiles, never built twice."""

import itertools
from dataclasses import replace

import pytest

from plugin_utils.honcho import (
    HonchoClientConfig,
    get_honcho_client,
    get_honcho_client_for,
    reset_honcho_client_for,
)
from plugin_utils.testing import run_together
from tests.honcho.conftest import Built, Warnings
from tests.support.honcho_server import HonchoServer

CONFIG = HonchoClientConfig(api_key="k", base_url="http://10.0.0.1")


def test_equal_connections_share_one_client(built: Built, warnings: Warnings) -> None:
    """Twenty threads with configs that mean the same build one client, and none is warned."""
    spellings = itertools.cycle([CONFIG, replace(CONFIG, base_url=" http://10.0.0.1/v3/ ")])
    clients = run_together(20, lambda: get_honcho_client_for(next(spellings)))
    assert len(set(map(id, clients))) == 1
    assert len(built) == 1
    assert warnings() == []


@pytest.mark.parametrize(
    "other",
    [
        replace(CONFIG, host="hermes_coder"),
        replace(CONFIG, workspace_id="other"),
        replace(CONFIG, base_url="http://10.0.0.2"),
        replace(CONFIG, environment="local"),
        replace(CONFIG, timeout=300.0),
        replace(CONFIG, api_key="k2"),
    ],
    ids=["host", "workspace", "url", "environment", "timeout", "key"],
)
def test_every_part_of_a_connection_tells_clients_apart(
    other: HonchoClientConfig, built: Built
) -> None:
    """A difference in what the client is built from gives a client of its own."""
    assert get_honcho_client_for(other) is not get_honcho_client_for(CONFIG)
    assert len(built) == 2


def test_each_profile_sends_its_own_key_and_workspace() -> None:
    """Two profiles in one gateway write under their own key, seen on the wire."""
    with HonchoServer("key-a", "key-b") as server:
        profiles = [
            HonchoClientConfig(
                host=f"hermes_{name}",
                workspace_id=name,
                base_url=server.url,
                raw={"hosts": {f"hermes_{name}": {"apiKey": f"key-{name}"}}},
                api_key=f"key-{name}",
            )
            for name in ("a", "b")
        ]
        waiting = iter(profiles)
        run_together(2, lambda: get_honcho_client_for(next(waiting)).peer("someone"))
        sent = {
            (request.authorization, request.path)
            for request in server.requests
            if request.path.endswith("/peers")
        }
        for profile in profiles:
            reset_honcho_client_for(profile)
    assert sent == {
        ("Bearer key-a", "/v3/workspaces/a/peers"),
        ("Bearer key-b", "/v3/workspaces/b/peers"),
    }


def test_a_changed_key_gives_a_new_client_at_once(built: Built) -> None:
    """The client that is found is the one for the key that the config has now."""
    old = get_honcho_client_for(CONFIG)
    rotated = replace(CONFIG, api_key="rotated")
    assert get_honcho_client_for(rotated) is not old
    assert [options["api_key"] for options in built] == ["k", "rotated"]


def test_reset_closes_that_client_only(server: HonchoServer) -> None:
    """The other profile's connection stays open, and works."""
    configs = [HonchoClientConfig(base_url=server.url, workspace_id=name) for name in "ab"]
    for config in configs:
        get_honcho_client_for(config).peer("someone")
    server.wait_for_connections(2)
    assert reset_honcho_client_for(configs[0])
    assert not reset_honcho_client_for(configs[0])
    server.wait_for_connections(1)
    get_honcho_client_for(configs[1]).peer("another")
    reset_honcho_client_for(configs[1])
    server.wait_for_connections(0)


def test_the_process_wide_client_is_another_one(built: Built) -> None:
    """`get_honcho_client` and `get_honcho_client_for` do not share."""
    assert get_honcho_client(CONFIG) is not get_honcho_client_for(CONFIG)
    assert len(built) == 2


def test_bad_config_is_refused_before_a_build(built: Built) -> None:
    """Without a key and a local server nothing is built, and nothing is cached."""
    with pytest.raises(ValueError, match="no Honcho key"):
        get_honcho_client_for(HonchoClientConfig())
    assert built == []
