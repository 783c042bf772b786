"""One client for each connection: never shared between profiles, never built twice."""

import itertools
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from plugin_utils.honcho import (
    HonchoClientConfig,
    get_honcho_client,
    get_honcho_client_for,
    reset_honcho_client_for,
)
from plugin_utils.honcho._connection import Connection
from plugin_utils.testing import run_together
from tests.honcho.conftest import Built, Warnings, Write
from tests.support.honcho_server import HonchoServer

CONFIG = HonchoClientConfig(api_key="k", base_url="http://10.0.0.1")


@pytest.mark.learned("two-spellings-of-one-key")
def test_equal_connections_share_one_client(built: Built, warnings: Warnings) -> None:
    """Twenty threads with configs that mean the same build one client, and none is warned."""
    spellings = itertools.cycle([CONFIG, replace(CONFIG, base_url=" http://10.0.0.1/v3/ ")])
    clients = run_together(20, lambda: get_honcho_client_for(next(spellings)))
    assert len(set(map(id, clients))) == 1
    assert len(built) == 1
    assert warnings() == []


@pytest.mark.learned("key-without-the-credential")
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


@pytest.mark.learned("signature-of-a-part")
@pytest.mark.parametrize("url", ["http://10.0.0.1", "http://127.0.0.1:8000"])
def test_whatever_changes_the_client_changes_its_connection(url: str, built: Built) -> None:
    """Every setting there is, those of the future too: what the SDK gets depends on no other."""
    base = HonchoClientConfig(api_key="k", base_url=url)
    changes: dict[str, Any] = {
        "host": "desk",
        "workspace_id": "other",
        "api_key": "k2",
        "environment": "local",
        "base_url": "http://10.0.0.2",
        "timeout": 300.0,
        "peer_name": "someone",
        "ai_peer": "robot",
        "enabled": True,
        "raw": {"hosts": {"hermes": {"apiKey": "in the block", "contextTokens": 9}}},
    }
    assert changes.keys() == {field.name for field in fields(HonchoClientConfig)}

    def sent(config: HonchoClientConfig) -> dict[str, Any]:
        get_honcho_client_for(config)
        reset_honcho_client_for(config)
        options = built.pop()
        return {**options, "http_client": options["http_client"].timeout}

    others = {name: replace(base, **{name: value}) for name, value in changes.items()}
    changed = {name for name, other in others.items() if sent(other) != sent(base)}
    told_apart = {
        name for name, other in others.items() if Connection.of(other) != Connection.of(base)
    }
    assert changed <= told_apart
    the_key = "raw" if "127" in url else "api_key"
    assert changed == {"workspace_id", the_key, "environment", "base_url", "timeout"}


@pytest.mark.learned("two-spellings-of-one-key")
def test_two_ways_to_one_home_lead_to_one_client(
    home: Path, write: Write, built: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A profile's folder, and a symbolic link to it."""
    profile = write(".hermes/profiles/coder/honcho.json", {"apiKey": "k"}).parent
    (home / "link").symlink_to(profile)
    clients: list[object] = []
    for folder in (profile, home / "link"):
        monkeypatch.setenv("HERMES_HOME", str(folder))
        clients.append(get_honcho_client_for(HonchoClientConfig.from_global_config()))
    assert clients[0] is clients[1]
    assert len(built) == 1


@pytest.mark.learned("one-client-for-two-profiles")
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


@pytest.mark.learned("key-without-the-credential")
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


@pytest.mark.learned("built-before-it-is-checked")
def test_bad_config_is_refused_before_a_build(built: Built) -> None:
    """Without a key and a local server nothing is built, and nothing is cached."""
    with pytest.raises(ValueError, match="no Honcho key"):
        get_honcho_client_for(HonchoClientConfig())
    assert built == []
