"""Starts a server program for a test, asks it, and ends it as an operator would."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import Any, Self

from tests.support.child import ROOT

__all__ = ("Program", "Serving", "builds")

LIMIT = 60
"""Seconds that anything here may take."""


def builds(file: Path) -> Counter[int]:
    """Return how many clients each process has built."""
    return Counter(int(line) for line in file.read_text("utf-8").split())


class Program:
    """A Python program that runs until the `with` block ends, and is then told to end.

    Args:
        arguments: Of the interpreter.
        handed: File descriptors that it gets.
        status: With which it ends when it is told to; negative for a signal.
    """

    def __init__(self, *arguments: str, handed: tuple[int, ...] = (), status: int = 0) -> None:
        self._status = status
        self._output = TemporaryFile()  # noqa: SIM115 - closed at the end of the `with` block
        self._process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            pass_fds=handed,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that its own children can be ended with it
        )

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LIMIT)
        with suppress(ProcessLookupError):  # all of them have ended
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()
        self._output.seek(0)
        output = self._output.read().decode()
        self._output.close()
        if error is not None:
            error.add_note(f"the program has written:\n{output}")
            return
        assert self._process.returncode == self._status, output
        assert "Traceback" not in output, output


class Serving(Program):
    """A server program that is handed a socket to listen on.

    Args:
        arguments: Of the interpreter, with `{fd}` where the number of the socket belongs.
        status: As for `Program`.
    """

    def __init__(self, *arguments: str, status: int = 0) -> None:
        with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:
            self._port = int(listening.getsockname()[1])
            fd = listening.fileno()
            filled = (each.format(fd=fd) for each in arguments)
            super().__init__(*filled, handed=(fd,), status=status)

    def ask(self) -> dict[str, Any]:
        """Return the app's answer to a request on a connection of its own."""
        connection = HTTPConnection("127.0.0.1", self._port, timeout=LIMIT)
        try:
            connection.request("GET", "/")
            response = connection.getresponse()
            body = response.read()
        finally:
            connection.close()
        assert response.status == 200, body
        answer: dict[str, Any] = json.loads(body)
        return answer
