"""Start a fresh process for each block, cheaply.

A server process imports what every block's process needs and then forks once for each block, so a
block costs some milliseconds, not an interpreter's start. It runs no thread and no block itself:
what it forks is as fresh as a new process. Where there is no `fork`, each block gets a new
interpreter.
"""

import contextlib
import gc
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, TextIO

__all__ = ("ForkServer", "Spawner", "Starter", "serve", "starter")

GRACE = 5.0
"""Seconds that a process gets, past its limit, to end by itself with the stack of each thread."""

_SERVE = "from plugin_utils.docs_testing._forkserver import serve; serve({})"
# On Linux, a process that says so (36 is PR_SET_CHILD_SUBREAPER) becomes the parent of whatever its
# descendants leave behind. A new program keeps that, and none of what it took to say it.
_ADOPT = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
_RUN = "from plugin_utils.docs_testing._run import main; main({!r})"


class Starter(Protocol):
    """Starts a process for a job and waits for its end."""

    def run(self, job: Path, limit: float) -> int:
        """Run the job; return its exit status, negative for a signal."""
        ...

    def close(self) -> None:
        """End what is still running."""
        ...


def starter(environ: Mapping[str, str]) -> Starter:
    """Return the cheapest starter that this host allows."""
    able = hasattr(os, "fork") and hasattr(os, "waitid")
    return ForkServer(environ) if able else Spawner(environ)


class ForkServer:
    """Forks a process for each job from a server that has imported what they need."""

    START = 60.0
    """Seconds that the server gets to import everything."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._channel, theirs = socket.socketpair()
        self._received = b""
        serve = ["-c", _SERVE.format(theirs.fileno())]
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
            return self._answer(GRACE)
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


def serve(channel: int) -> None:
    """Fork a process for each job that arrives; each of them runs its job and ends."""
    from plugin_utils.docs_testing import _asserts, _run

    _asserts.prepare()
    gc.freeze()  # what is here now is everybody's: no child has to look through it
    with socket.socket(fileno=channel) as jobs, jobs.makefile(encoding="utf-8") as lines:
        job = _next_job(jobs, lines)
    return _run.main(job) if job else None


def _next_job(jobs: socket.socket, lines: TextIO) -> str:
    """Return, in a new process, the job to run; or nothing, in the server, when no more come."""
    job, pid = "", -1
    while pid and (job := lines.readline().removesuffix("\n")):
        pid = os.fork()
        with contextlib.suppress(OSError):  # both set it: neither knows who comes first
            os.setpgid(pid, pid)
        _follow(jobs, pid)
    return job


def _follow(jobs: socket.socket, pid: int) -> None:
    """Tell pytest, from the server, who the new process is and how it ended."""
    with contextlib.suppress(BrokenPipeError):  # pytest was interrupted
        if pid:
            jobs.sendall(f"{pid}\n".encode())
            jobs.sendall(f"{_wait(pid)}\n".encode())


def _wait(pid: int) -> int:
    """Wait for the process to end; end what it leaves behind; return its exit status."""
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # still a zombie, so its group is its own
    _kill_group(pid)
    _, status = os.waitpid(pid, 0)
    # What left the group has been handed to this process, where it is one that adopts. Who is
    # killed hands on its own children, so this looks again until there are none.
    while killed := [child for child in _children() if _kill(child)]:
        for child in killed:
            os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _children() -> list[int]:
    """Return the children of this process, dead ones included."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # the usual case, and it spares the search
        return []
    return [
        int(pid) for pid in os.listdir("/proc") if pid.isdecimal() and _parent(pid) == os.getpid()
    ]


def _parent(pid: str) -> int | None:
    """Return the parent of a process, or nothing if it has gone."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as stat:
        return int(stat.read().rpartition(b")")[2].split()[1])
    return None


def _kill(pid: int) -> bool:
    """Kill a process; tell whether that was allowed."""
    try:
        os.kill(pid, signal.SIGKILL)
    except PermissionError:  # it has become another user's
        return False
    return True


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


class Spawner:
    """Starts a new interpreter for each job."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def run(self, job: Path, limit: float) -> int:
        """Run the job; return its exit status, negative for a signal."""
        command = [sys.executable, "-c", _RUN.format(str(job))]
        quiet = subprocess.DEVNULL
        with subprocess.Popen(command, env=self._environ, stdin=quiet, stdout=quiet) as process:
            try:
                return process.wait(limit + GRACE)
            except subprocess.TimeoutExpired:
                process.kill()
                return process.wait()

    def close(self) -> None:
        """Do nothing: no process outlives its job."""
