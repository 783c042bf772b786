"""A child asks over its parent's connection, and the parent reads the answer."""

from __future__ import annotations

import multiprocessing
import socket
import subprocess


class Client:
    """Stands for an SDK client: one connection, and an answer for each question."""

    def __init__(self) -> None:
        self._connection, far_end = socket.socketpair()
        with far_end:  # the server is `cat`: it answers each question with the question
            server = far_end.fileno()
            self._server = subprocess.Popen(["cat"], stdin=server, stdout=server)
        self._file = self._connection.makefile("rw")

    def send(self, question: str) -> None:
        """Send a question, and leave its answer for later."""
        print(question, file=self._file, flush=True)

    def ask(self, question: str) -> str:
        """Send a question, and return the next answer that comes in."""
        self.send(question)
        return self._file.readline().strip()

    def close(self) -> None:
        """Hang up, and wait until the server has ended."""
        self._file.close()
        self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()
        self._server.wait(timeout=10)


_client: Client | None = None


def get_client() -> Client:
    """Return the client, built on the first call."""
    global _client
    if _client is None:
        _client = Client()
    return _client


def work_in_child() -> None:
    """Ask something, and be slow to read the answer."""
    get_client().send("the child's question")


if __name__ == "__main__":
    client = get_client()
    child = multiprocessing.get_context("fork").Process(target=work_in_child)
    child.start()
    child.join(timeout=10)
    answer = client.ask("the parent's question")
    client.close()
    assert answer == "the parent's question", f"the parent was told {answer!r}"
