"""A loopback HTTP server that counts the connections it has."""

from __future__ import annotations

import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

__all__ = ("SocketCounter",)


class SocketCounter:
    """Answers every GET with `ok`, keeps connections alive, and knows which are open.

    Attributes:
        opened: How many connections were ever made.
        open: How many are open now.
    """

    def __init__(self) -> None:
        self.opened = 0
        self.open = 0
        self._changed = threading.Condition()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def port(self) -> int:
        """The port on 127.0.0.1."""
        return int(self._server.server_address[1])

    def count(self, change: int) -> None:
        """Note a connection that came (1) or went (-1)."""
        with self._changed:
            self.open += change
            self.opened += change > 0
            self._changed.notify_all()

    def wait_until_all_closed(self, limit: float) -> bool:
        """Return whether no connection is open any more within `limit` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: self.open == 0, limit)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10.0)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, counter: SocketCounter) -> None:
        self.counter = counter
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as in the base class
        self.counter.count(1)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        super().shutdown_request(request)
        self.counter.count(-1)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Answer at once."""
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Keep standard error for failures."""
