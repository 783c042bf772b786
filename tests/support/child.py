"""Runs code that may hang or end its process: in a child, with a time limit.

A child that is late is made to show every thread's stack, its own children's too, and is killed.
"""

from __future__ import annotations

import inspect
import os
import select
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import plugin_utils

__all__ = ("Ended", "run")

Argument = str | int | float | bool | None

ROOT = Path(__file__).parents[2]
# Where this process has the library from: the project, or a stand-in for it.
_UNDER_TEST = Path(plugin_utils.__file__).parents[1]
_BOOT = Path(__file__).with_name("boot.py")
# A loaded machine may take long to start an interpreter; that says nothing about the program.
_START_UP = 30.0


@dataclass(frozen=True)
class Ended:
    """How a child process ended, and what it wrote."""

    status: int
    output: str
    errors: str


def run(
    program: str | Callable[..., None],
    *arguments: Argument,
    limit: float = 5.0,
    status: int = 0,
    options: Sequence[str] = (),
) -> Ended:
    """Run a program in a child process, and return how it ended.

    Args:
        program: Source text, or a function that imports what it uses: its own source is run.
        arguments: Passed to the function.
        limit: Seconds the program may take, once the interpreter is up. Passing tests do not wait
            for it.
        status: The exit status that is expected; negative for the signal that ends the child.
        options: Options of the interpreter.

    Raises:
        AssertionError: It was late, or ended otherwise.
    """
    __tracebackhide__ = True  # the failure is the child's, not this function's
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as streams:
        path = Path(folder, "program.py")
        path.write_text(_source(program, arguments), "utf-8")
        errors = Path(folder, "errors")
        with errors.open("wb") as error_stream:
            ended = _run([*options, str(_BOOT), str(path)], streams, error_stream, limit)
        streams.seek(0)
        result = Ended(ended or 0, streams.read().decode(), errors.read_text("utf-8", "replace"))
    if ended is None:
        msg = f"still running after {limit:g} s\n{result.output}{result.errors}"
        raise AssertionError(msg)
    if ended != status:
        msg = f"ended with {ended}, not {status}\n{result.output}{result.errors}"
        raise AssertionError(msg)
    return result


def _source(program: str | Callable[..., None], arguments: tuple[Argument, ...]) -> str:
    text = program if isinstance(program, str) else inspect.getsource(program)
    source = textwrap.dedent(text)
    if isinstance(program, str):
        return source
    # Guarded, since a process that is spawned imports the program once more.
    return f"{source}\nif __name__ == '__main__':\n    {program.__name__}(*{arguments!r})\n"


def _run(command: list[str], output: IO[bytes], errors: IO[bytes], limit: float) -> int | None:
    """Return the exit status, or None if the child was late."""
    ready, up = os.pipe()
    with os.fdopen(ready, "rb", buffering=0) as started:
        try:
            child = subprocess.Popen(
                [sys.executable, "-X", "faulthandler", *command, str(up)],
                stdout=output,
                stderr=errors,
                pass_fds=[up],
                cwd=ROOT,
                env=os.environ | {"PYTHONPATH": f"{_UNDER_TEST}{os.pathsep}{ROOT}"},
                start_new_session=True,  # so that its own children can be ended with it
            )
        finally:
            os.close(up)
        try:
            select.select([started], [], [], _START_UP)
            return child.wait(limit)
        except subprocess.TimeoutExpired:
            _signal_all(child, signal.SIGABRT)  # faulthandler writes the stacks, then it ends
            return None
        finally:
            _end(child)


def _end(child: subprocess.Popen[bytes]) -> None:
    with suppress(subprocess.TimeoutExpired):
        child.wait(2)
    _signal_all(child, signal.SIGKILL)
    child.wait()


def _signal_all(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError):  # all of them have ended
        os.killpg(child.pid, number)
