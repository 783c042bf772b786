"""The factory uses the client once before anybody else can."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, ClassVar

from plugin_utils import SingletonSlot
from plugin_utils.honcho import HonchoClientConfig, get_honcho_client, reset_honcho_client

if TYPE_CHECKING:
    from honcho import Honcho


class StandIn(BaseHTTPRequestHandler):
    """A Honcho server that can do two things: make a workspace, and make a peer."""

    requests: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        """Answer as Honcho does."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.requests.append(self.path)
        made = {**asked, "workspace_id": "hermes", "created_at": "2026-01-01T00:00:00Z"}
        self.send_response(201)
        self.end_headers()
        self.wfile.write(json.dumps(made).encode())

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Say nothing."""


_memory_slot: SingletonSlot[Honcho] = SingletonSlot(name="memory")


def get_memory(config: HonchoClientConfig | None = None) -> Honcho:
    """Return the process's Honcho client, with its workspace made."""
    return _memory_slot.get(_connect, config)


def reset_memory() -> None:
    """Drop the client and close it. For tests and teardown, when nobody uses it."""
    _memory_slot.reset()
    reset_honcho_client()


def _connect(config: HonchoClientConfig | None) -> Honcho:
    client = get_honcho_client(config)
    client.peer("ada")  # one request for the workspace, one for the peer
    return client


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", 0), StandIn) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            config = HonchoClientConfig(base_url=f"http://127.0.0.1:{server.server_port}")
            with ThreadPoolExecutor(8) as threads:
                clients = set(map(id, threads.map(get_memory, [config] * 8)))
                peers = list(threads.map(get_memory().peer, ["ada"] * 8))
            reset_memory()
        finally:
            server.shutdown()
    assert len(clients) == 1
    assert {peer.id for peer in peers} == {"ada"}
    assert StandIn.requests.count("/v3/workspaces") == 1
