"""The loopback server tells the truth about the real one."""

import json
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, RemoteDisconnected
from typing import Any, cast

import pytest

from tests.honcho.recorded import RECORDED, Exchange
from tests.support.honcho_server import HonchoServer


@pytest.fixture
def wire(server: HonchoServer) -> Iterator[HTTPConnection]:
    """A connection to the server."""
    with closing(HTTPConnection("127.0.0.1", int(server.url.rpartition(":")[2]), 10)) as wire:
        yield wire


def ask(wire: HTTPConnection, request: str, sent: object = None) -> tuple[int, Any]:
    """Send a request as the SDK does, and return status and body of the reply."""
    method, path = request.split()
    content = None if sent is None else json.dumps(sent)
    wire.request(method, path, content, {"Content-Type": "application/json"})
    reply = wire.getresponse()
    assert reply.getheader("Content-Type") == "application/json"
    return reply.status, json.loads(reply.read())


def shape_of(value: object) -> object:
    """Reduce an answer to what was recorded of it."""
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        return {name: shape_of(each) for name, each in fields.items()}
    if isinstance(value, list):
        return [shape_of(each) for each in cast("list[object]", value)[:1]]
    return type(value).__name__


def test_it_answers_as_recorded(wire: HTTPConnection) -> None:
    """Status, content type and shape of every recorded exchange, in their order."""
    answers = [ask(wire, exchange.request, exchange.sent) for exchange in RECORDED]
    told = [
        exchange._replace(status=status, shape=shape_of(body))
        for exchange, (status, body) in zip(RECORDED, answers, strict=True)
    ]
    assert told == RECORDED


def test_a_page_holds_what_was_asked_for(wire: HTTPConnection) -> None:
    """Numbers and order, beyond the shape."""
    messages = [{"content": f"m{number}", "peer_id": "alice"} for number in range(5)]
    messages[3]["peer_id"] = "bob"
    ask(wire, "POST /v3/workspaces/w/sessions/s1/messages", {"messages": messages})
    path = "POST /v3/workspaces/w/sessions/s1/messages/list"

    def contents(query: str, body: object = None) -> tuple[list[str], int, int]:
        _, page = ask(wire, path + query, body)
        return [each["content"] for each in page["items"]], page["total"], page["pages"]

    assert contents("") == (["m0", "m1", "m2", "m3", "m4"], 5, 1)
    assert contents("?page=2&size=2") == (["m2", "m3"], 5, 3)
    assert contents("?page=4&size=2") == ([], 5, 3)
    assert contents("?reverse=true&size=2") == (["m4", "m3"], 5, 3)
    assert contents("", {"filters": {"peer_id": "bob"}}) == (["m3"], 1, 1)


@pytest.mark.parametrize("session", ["w/sessions/s1", "elsewhere/sessions/s1"])
def test_listing_creates_nothing(session: str, server: HonchoServer, wire: HTTPConnection) -> None:
    """An unknown object is an empty page, and stays unknown."""
    ask(wire, "POST /v3/workspaces", {"id": "w"})
    status, page = ask(wire, f"POST /v3/workspaces/{session}/messages/list")
    empty: dict[str, object] = {"items": [], "total": 0, "page": 1, "size": 50, "pages": 0}
    assert (status, page) == (200, empty)
    assert list(server.api.workspaces) == ["w"]
    assert server.api.workspaces["w"].sessions == {}


def test_writing_creates_what_is_missing(server: HonchoServer, wire: HTTPConnection) -> None:
    """A message brings its workspace, session and peer along."""
    message = {"content": "m", "peer_id": "alice"}
    status, (added,) = ask(
        wire, "POST /v3/workspaces/w/sessions/s1/messages", {"messages": [message]}
    )
    assert status == 201
    workspace = server.api.workspaces["w"]
    assert (list(workspace.peers), list(workspace.sessions)) == (["alice"], ["s1"])
    found = ask(wire, f"GET /v3/workspaces/w/sessions/s1/messages/{added['id']}")
    assert found == (200, added)


def test_metadata_is_replaced(wire: HTTPConnection) -> None:
    """A PUT leaves nothing of the old."""
    for path in ("w", "w/peers/alice", "w/sessions/s1"):
        ask(wire, f"PUT /v3/workspaces/{path}", {"metadata": {"a": 1}})
        _, record = ask(wire, f"PUT /v3/workspaces/{path}", {"metadata": {"b": 2}})
        assert record["metadata"] == {"b": 2}


@pytest.mark.parametrize(
    ("header", "status"),
    [("Bearer k", 201), ("Bearer other", 401), ("Bearer ", 401), ("k", 401), (None, 401)],
)
def test_keys(header: str | None, status: int) -> None:
    """With keys of its own the server refuses a missing, bad or foreign one."""
    with HonchoServer("k") as server:
        port = int(server.url.rpartition(":")[2])
        with closing(HTTPConnection("127.0.0.1", port, 10)) as wire:
            headers = {} if header is None else {"Authorization": header}
            wire.request("POST", "/v3/workspaces", '{"id": "w"}', headers)
            assert wire.getresponse().status == status


def test_connections_are_counted(server: HonchoServer, wire: HTTPConnection) -> None:
    """Several requests of one connection, and its end."""
    exchange: Exchange = RECORDED[0]
    for _ in range(3):
        ask(wire, exchange.request, exchange.sent)
    assert (server.connections_open, server.connections_total) == (1, 1)
    assert [request.connection for request in server.requests] == [1, 1, 1]
    wire.close()
    server.wait_for_connections(0)
    ask(wire, exchange.request, exchange.sent)
    assert (server.connections_open, server.connections_total) == (1, 2)


def test_a_dropped_reply(server: HonchoServer, wire: HTTPConnection) -> None:
    """What was asked is done, and nobody is told."""
    server.drop_reply()
    with pytest.raises(RemoteDisconnected):
        ask(wire, "POST /v3/workspaces", {"id": "w"})
    assert list(server.api.workspaces) == ["w"]
    wire.close()
    assert ask(wire, "POST /v3/workspaces", {"id": "w"})[0] == 200
