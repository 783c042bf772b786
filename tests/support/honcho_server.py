"""A Honcho server on 127.0.0.1 that lets a test see and steer what happens on the wire."""

import json
import socket
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Condition, Event, Thread
from typing import Any, NamedTuple, Self, cast
from urllib.parse import parse_qsl, urlsplit

from tests.support.honcho_api import HonchoApi

__all__ = ("Held", "HonchoServer", "Request")

PATIENCE = 10.0
"""Seconds that anything here waits before it gives up with an error."""


class Request(NamedTuple):
    """A request as it arrived."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    authorization: str | None
    connection: int
    """The number of the connection it came by, from 1."""


class Held:
    """A reply that is held back: wait until it is due, then release it."""

    def __init__(self) -> None:
        self.due = Event()
        self.released = Event()

    def wait_until_due(self) -> None:
        """Return when the server has done what was asked and is about to reply."""
        assert self.due.wait(PATIENCE), "no request arrived"

    def release(self) -> None:
        """Let the reply go."""
        self.released.set()


class HonchoServer:
    """Serves the API until the `with` block ends.

    Args:
        keys: The keys it accepts. Without any, it asks for none, as a server without
            authentication does.
    """

    def __init__(self, *keys: str) -> None:
        self.api = HonchoApi()
        self.requests: list[Request] = []
        self.connections_total = 0
        self._keys = keys
        self._open: dict[int, socket.socket] = {}
        self._numbers = count(1)
        self._changed = Condition()  # guards all of the above and below
        self._drops = 0
        self._held: list[Held] = []
        self._http = _Http(self)
        self._thread = Thread(target=self._http.serve_forever, args=(0.01,), name="honcho server")

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def connections_open(self) -> int:
        """How many connections are open now."""
        return len(self._open)

    def paths(self) -> list[str]:
        """Return method and path of each request, in the order of arrival."""
        return [f"{request.method} {request.path}" for request in self.requests]

    def drop_reply(self) -> None:
        """Do what the next request asks, then close its connection without a reply."""
        with self._changed:
            self._drops += 1

    def hold_reply(self) -> Held:
        """Hold the reply to the next request back."""
        held = Held()
        with self._changed:
            self._held.append(held)
        return held

    def wait_for_connections(self, number: int) -> None:
        """Return when exactly so many connections are open."""
        with self._changed:
            reached = self._changed.wait_for(lambda: len(self._open) == number, PATIENCE)
        assert reached, f"{self.connections_open} connections are open, not {number}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._http.shutdown()
        for held in self._held:
            held.release()
        with self._changed:
            for connection in self._open.values():
                with suppress(OSError):  # the client was faster
                    connection.shutdown(socket.SHUT_RDWR)
        self._http.server_close()  # waits for the threads of all connections
        self._thread.join(PATIENCE)

    # What the threads of the connections call.

    def connected(self, connection: socket.socket) -> int:
        """Count a new connection and return its number."""
        with self._changed:
            number = next(self._numbers)
            self.connections_total = number
            self._open[number] = connection
            self._changed.notify_all()
        return number

    def disconnected(self, number: int) -> None:
        """Forget a connection."""
        with self._changed:
            del self._open[number]
            self._changed.notify_all()

    def reply_to(self, request: Request) -> tuple[int, Any] | None:
        """Do what is asked and return status and body, or `None` if no reply is to be sent."""
        with self._changed:
            self.requests.append(request)
            status, body = self._answer(request)
            encoded = json.dumps(body).encode()
            dropped = self._drops > 0
            self._drops -= dropped
            held = self._held.pop(0) if self._held else None
        if held is not None:
            held.due.set()
            assert held.released.wait(PATIENCE), "a held reply was never released"
        return None if dropped else (status, encoded)

    def _answer(self, request: Request) -> tuple[int, Any]:
        if self._keys and request.authorization not in {f"Bearer {key}" for key in self._keys}:
            return 401, {"detail": "the key is missing, wrong or not for this workspace"}
        return self.api.answer(request.method, request.path, request.query, request.body)


class _Http(ThreadingHTTPServer):
    daemon_threads = False  # so that closing the server waits for them
    request_queue_size = 64  # as many as a test may start at once

    def __init__(self, owner: HonchoServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.owner = owner


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps connections alive
    wbufsize = -1  # head and body in one packet

    def setup(self) -> None:
        super().setup()
        self.owner = cast("_Http", self.server).owner
        self.number = self.owner.connected(self.connection)

    def finish(self) -> None:
        try:
            super().finish()
        finally:
            self.owner.disconnected(self.number)

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PUT(self) -> None:
        self._serve()

    def _serve(self) -> None:
        url = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        content = self.rfile.read(length)
        reply = self.owner.reply_to(
            Request(
                method=self.command,
                path=url.path,
                query=dict(parse_qsl(url.query)),
                body=json.loads(content) if content else None,
                authorization=self.headers.get("Authorization"),
                connection=self.number,
            )
        )
        if reply is None:
            self.close_connection = True
            return
        status, body = reply
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Stay silent: `requests` tells all."""
