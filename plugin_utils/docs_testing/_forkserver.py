"""Start a fresh process for each block, cheaply.

A server, which is a new interpreter and has imported nothing, forks once for each block: that costs
a millisecond, where an interpreter's start costs ten or more. It runs no thread and no block
itself, so what it forks is as fresh as a new process. Where there is no `fork`, each block gets a
new interpreter.
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

__all__ = ("ForkServer", "Spawner", "Starter", "starter")

GRACE = 25.0
"""Seconds that a process gets, past its limit, to be judged and to end by itself."""

_CHILD = str(Path(__file__).with_name("_child.py"))
# Executed, not imported: an import would leave this package in the block's `sys.modules`.
_DO = f"with open({_CHILD!r}, 'rb') as file: exec(compile(file.read(), {_CHILD!r}, 'exec'))\n"
# On Linux, a process that says so (36 is PR_SET_CHILD_SUBREAPER) becomes the parent of whatever its
# descendants leave behind. A new program keeps that, and none of what it took to say it.
_ADOPT = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


class Starter(Protocol):
    """Starts a process for a job and waits for its end."""

    def run(self, job: Path, limit: float) -> int:
        """Run the job; return its exit status, negative for a signal."""
        ...

    def close(self) -> None:
        """End what is still running."""
        ...


def starter(environ: Mapping[str, str], preload: str = "sys") -> Starter:
    """Return the cheapest starter that this host allows.

    Args:
        environ: The environment of the interpreter that it starts.
        preload: A module that every job needs, or one that is in every interpreter.
    """
    able = hasattr(os, "fork") and hasattr(os, "waitid")
    return ForkServer(environ, preload) if able else Spawner(environ)


class ForkServer:
    """Forks a process for each job from a server that has imported no more than it was told."""

    START = 60.0
    """Seconds that the server gets to start."""

    def __init__(self, environ: Mapping[str, str], preload: str = "sys") -> None:
        self._channel, theirs = socket.socketpair()
        self._received = b""
        serve = ["-c", f"{_DO}import {preload}\nserve({theirs.fileno()})"]
        adopt = ["-I", "-S", "-c", _ADOPT] if sys.platform == "linux" else []
        with theirs:
            self._server = subprocess.Popen(
                [sys.executable, *adopt, *serve],
                env=environ,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is for pytest, which then closes this
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )

    def run(self, job: Path, limit: float) -> int:
        """Run the job; return its exit status, negative for a signal."""
        try:
            self._channel.sendall(f"{job}\n".encode())
            return self._wait_for_job(limit)
        except (ConnectionError, EOFError) as error:
            status = self._server.wait()
            message = f"the server of the blocks ended by itself, with status {status}"
            raise RuntimeError(message) from error

    def close(self) -> None:
        """Let the server end; it does when its channel closes."""
        self._channel.close()
        self._server.wait()

    def _wait_for_job(self, limit: float) -> int:
        pid = self._answer(self.START)
        try:
            return self._answer(limit + GRACE)
        except TimeoutError:
            _kill_group(pid)
            return self._answer(self.START)
        except BaseException:
            _kill_group(pid)
            raise

    def _answer(self, timeout: float) -> int:
        self._channel.settimeout(timeout)
        while b"\n" not in self._received:
            data = self._channel.recv(64)
            if not data:
                raise EOFError
            self._received += data
        line, _, self._received = self._received.partition(b"\n")
        return int(line)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


class Spawner:
    """Starts a new interpreter for each job."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def run(self, job: Path, limit: float) -> int:
        """Run the job; return its exit status, negative for a signal."""
        command = [sys.executable, "-c", f"{_DO}run({str(job)!r})"]
        quiet = subprocess.DEVNULL
        with subprocess.Popen(command, env=self._environ, stdin=quiet, stdout=quiet) as process:
            try:
                return process.wait(limit + GRACE)
            except subprocess.TimeoutExpired:
                process.kill()
                return process.wait()

    def close(self) -> None:
        """Do nothing: no process outlives its job."""
