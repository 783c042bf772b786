"""The process ends, and closes the client first."""

from __future__ import annotations

import atexit
import subprocess
import sys
from pathlib import Path

from plugin_utils import lazy_singleton


class Client:
    """Stands for an SDK client that sends in batches, and the rest when it is closed."""

    def __init__(self) -> None:
        self._batch: list[str] = []

    def send(self, message: str) -> None:
        """Add a message to the batch."""
        self._batch.append(message)

    def close(self) -> None:
        """Send the batch."""
        Path("server.log").write_text("\n".join(self._batch), encoding="utf-8")


@lazy_singleton(close=Client.close)
def get_client() -> Client:
    """Return the client, built on the first call."""
    return Client()


atexit.register(get_client.reset)  # closes the client if there is one, and builds none


if __name__ == "__main__":
    if "child" in sys.argv:
        get_client().send("the last message")
    else:
        subprocess.run([sys.executable, __file__, "child"], check=True, timeout=30)
        assert Path("server.log").read_text(encoding="utf-8") == "the last message"
