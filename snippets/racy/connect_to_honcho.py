"""One client, used first by two threads: both make the workspace."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Barrier, Thread
from typing import ClassVar

from plugin_utils.honcho import HonchoClientConfig, get_honcho_client, reset_honcho_client


class StandIn(BaseHTTPRequestHandler):
    """A Honcho server that can do two things: make a workspace, and make a peer."""

    requests: ClassVar[list[str]] = []
    making: ClassVar[Barrier] = Barrier(2)

    def do_POST(self) -> None:
        """Answer as Honcho does. A workspace takes as long as until it is asked for twice."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.requests.append(self.path)
        if self.path == "/v3/workspaces":
            self.making.wait(timeout=10)
        made = {**asked, "workspace_id": "hermes", "created_at": "2026-01-01T00:00:00Z"}
        self.send_response(201)
        self.end_headers()
        self.wfile.write(json.dumps(made).encode())

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Say nothing."""


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", 0), StandIn) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            config = HonchoClientConfig(base_url=f"http://127.0.0.1:{server.server_port}")
            with ThreadPoolExecutor(2) as threads:
                clients = [threads.submit(get_honcho_client, config).result() for _ in range(2)]
                peers = [threads.submit(client.peer, "ada") for client in clients]
            reset_honcho_client()
        finally:
            server.shutdown()
    assert clients[0] is clients[1]
    assert [peer.result().id for peer in peers] == ["ada", "ada"]
    made = StandIn.requests.count("/v3/workspaces")
    assert made == 1, f"the workspace was made {made} times"
