"""What the shared client does on the wire, seen from the server."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import honcho
import pytest

from plugin_utils import SingletonSlot
from plugin_utils.honcho import HonchoClientConfig, get_honcho_client, reset_honcho_client
from plugin_utils.testing import run_together
from tests.support.honcho_server import HonchoServer


def config_for(server: HonchoServer) -> HonchoClientConfig:
    """Return a config whose address ends as users paste it."""
    return HonchoClientConfig(workspace_id="w", base_url=f"{server.url}/v3/")


def test_real_calls_through_the_client(server: HonchoServer) -> None:
    """Workspace, peer, session and messages, written and read back over one connection."""
    client = get_honcho_client(config_for(server))
    assert server.requests == []
    alice = client.peer("alice")
    session = client.session("s1")
    session.add_messages([alice.message("one"), alice.message("two words")])
    assert [(each.peer_id, each.content) for each in session.messages()] == [
        ("alice", "one"),
        ("alice", "two words"),
    ]
    client.set_metadata({"a": 1})
    assert client.get_metadata() == {"a": 1}
    assert server.paths() == [
        "POST /v3/workspaces",
        "POST /v3/workspaces/w/peers",
        "POST /v3/workspaces/w/sessions",
        "POST /v3/workspaces/w/sessions/s1/messages",
        "POST /v3/workspaces/w/sessions/s1/messages/list",
        "PUT /v3/workspaces/w",
        "POST /v3/workspaces",
    ]
    assert (server.connections_total, server.connections_open) == (1, 1)
    assert {request.authorization for request in server.requests} == {"Bearer local"}


def test_one_client_one_pool_closed_once(server: HonchoServer) -> None:
    """Many threads share the client's connections; a reset ends all of them."""
    config = config_for(server)
    get_honcho_client(config).get_metadata()
    run_together(20, lambda: get_honcho_client(config).get_metadata())
    assert 1 <= server.connections_open == server.connections_total <= 21
    reset_honcho_client()
    server.wait_for_connections(0)
    old_connections = server.connections_total
    get_honcho_client(config).get_metadata()
    assert (server.connections_open, server.connections_total) == (1, old_connections + 1)


def test_first_use_touched_in_the_factory_is_single(server: HonchoServer) -> None:
    """The SDK creates workspace and peer once for each thread that comes first; a slot, once."""
    config = config_for(server)
    peer: SingletonSlot[honcho.Peer] = SingletonSlot(name="peer")
    peers = run_together(20, lambda: peer.get(lambda: get_honcho_client(config).peer("alice")))
    assert len(set(map(id, peers))) == 1
    assert server.paths() == ["POST /v3/workspaces", "POST /v3/workspaces/w/peers"]


def test_a_failed_touch_is_tried_again(server: HonchoServer) -> None:
    """A factory that the server refuses caches nothing; the client itself stays."""
    client = get_honcho_client(config_for(server))
    peer: SingletonSlot[honcho.Peer] = SingletonSlot(name="peer")
    with pytest.raises(honcho.UnprocessableEntityError):
        peer.get(client.peer, "a b")
    assert peer.get(client.peer, "alice").id == "alice"
    assert get_honcho_client() is client


def test_a_request_in_flight_during_a_reset_breaks(server: HonchoServer) -> None:
    """The pool is closed under it: the caller gets an error, and later calls get a new client."""
    client = get_honcho_client(config_for(server))
    client.get_metadata()
    held = server.hold_reply()
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(client.get_metadata)
        held.wait_until_due()
        reset_honcho_client()
        held.release()
        with pytest.raises(honcho.ConnectionError, match="client has been closed"):
            call.result(10)
    assert get_honcho_client(config_for(server)).get_metadata() == {}


@pytest.mark.learned("no-timer-knows-the-users")
def test_a_client_after_its_reset(server: HonchoServer) -> None:
    """A synchronous call on it fails at once and sends nothing."""
    client = get_honcho_client(config_for(server))
    reset_honcho_client()
    with pytest.raises(honcho.ConnectionError, match="client has been closed"):
        client.get_metadata()
    assert server.requests == []


def test_the_asynchronous_side_has_a_pool_of_its_own(server: HonchoServer) -> None:
    """A reset does not reach it: the SDK has no public way to close it."""
    client = get_honcho_client(config_for(server))
    reset_honcho_client()

    async def use() -> str:
        peer = await client.aio.peer("alice")
        await client._async_http_client.close()  # what the SDK offers nowhere else
        return peer.id

    assert asyncio.run(use()) == "alice"
    server.wait_for_connections(0)


def test_a_lost_reply_is_a_message_twice(server: HonchoServer) -> None:
    """The SDK sends a write again when its reply is lost: one message added, two stored."""
    client = get_honcho_client(config_for(server))
    alice, session = client.peer("alice"), client.session("s1")
    server.drop_reply()
    assert len(session.add_messages([alice.message("once")])) == 1
    assert [each.content for each in session.messages()] == ["once", "once"]
