"""Serves a folder on 127.0.0.1, as a static host does."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

__all__ = ("serve",)


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # one connection carries many files, as on a real host

    def log_message(self, format: str, *_: object) -> None:  # noqa: A002 - its parent's name
        """Say nothing: the tests look at what the browser got."""

    def end_headers(self) -> None:
        """Let the browser keep what many pages share."""
        if self.path.startswith("/assets/"):
            self.send_header("Cache-Control", "max-age=3600")
        super().end_headers()


@contextmanager
def serve(folder: Path) -> Generator[str]:
    """Serve the folder until the block ends.

    Yields:
        The address, with a slash at its end.
    """
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, name=f"serve {folder}", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()
