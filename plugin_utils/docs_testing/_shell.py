"""Run bash blocks, and console blocks that show what their commands print."""

import re
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from doctest import DONT_ACCEPT_TRUE_FOR_1, ELLIPSIS, Example, OutputChecker
from pathlib import Path
from typing import IO

from plugin_utils.docs_testing._block import BlockError, Place

__all__ = ("run_bash", "run_console")

FLAGS = ELLIPSIS | DONT_ACCEPT_TRUE_FOR_1
CONTINUED = re.compile(r"> |>$")
"""The shell's second prompt; a page may have lost the blank at its end."""
ENDED = "docs-testing: the command ended with"


def run_bash(code: str, places: Sequence[Place], folder: Path) -> None:
    """Run the block under `bash -euo pipefail`.

    Blank lines put before it give bash's own messages the line numbers of the page; a trap notes
    the line that failed, since `false` says nothing.
    """
    above = places[0].line - 1
    note = folder / "failed-line"
    trap = f"trap 'echo $LINENO >{shlex.quote(str(note))}' ERR"
    status = _bash("-euo", "pipefail", "-c", trap + ("\n" * above or ";") + code)
    if status:
        line = int(note.read_text("utf-8")) - above if note.exists() else 1
        place = places[min(line, len(places)) - 1]
        raise BlockError(place, f"the block ended with exit status {status}")


@dataclass(slots=True)
class _Command:
    """A `$` line with what the page shows below it."""

    place: Place
    text: str
    shown: str = ""
    may_fail: bool = False
    """Whether the next command shows this one's status."""


def run_console(code: str, places: Sequence[Place], folder: Path) -> None:
    """Run the block's `$` lines in one shell, and compare what they print with what is shown.

    Output is compared where the page shows some; `...` in it stands for any text. A command may
    fail only if the next one shows its status with `$?`.
    """
    commands = _commands(code, places)
    output = folder / "console"
    with output.open("wb") as file:
        status = _bash("-uo", "pipefail", "-c", "".join(map(_script, commands)), output=file)
    text = output.read_text("utf-8", "replace")
    *ended, rest = re.split(rf"\n{ENDED} (\d+)\n", text)
    print("".join(ended[::2]) + rest, end="")
    results = [*zip(ended[::2], map(int, ended[1::2]), strict=True), (rest, status)]
    for command, (printed, result) in zip(commands, results, strict=False):
        _compare(command, printed, result)
    if len(results) < len(commands):
        raise BlockError(commands[len(results)].place, "not reached: the shell had ended before")


def _commands(code: str, places: Sequence[Place]) -> list[_Command]:
    commands: list[_Command] = []
    for line, place in zip(code.splitlines(), places, strict=True):
        last = commands[-1] if commands else None
        if line.startswith("$ "):
            if last:
                last.may_fail = "$?" in line
            commands.append(_Command(place, line[2:]))
        elif last and not last.shown and (CONTINUED.match(line) or last.text.endswith("\\")):
            last.text += "\n" + CONTINUED.sub("", line)
        elif last:
            last.shown += line + "\n"
        elif line.strip():
            raise BlockError(place, f"a console block starts with a `$ ` line, not with {line!r}")
    return commands


def _script(command: _Command) -> str:
    """Write the command so that its output and its status can be told from the next one's."""
    stop = "" if command.may_fail else '[ "$docs_status" = 0 ] || exit "$docs_status"; '
    report = f"printf '\\n{ENDED} %s\\n' \"$docs_status\""
    return f'{command.text}\ndocs_status=$?; {report}; {stop}(exit "$docs_status")\n'


def _compare(command: _Command, printed: str, status: int) -> None:
    if status and not command.may_fail:
        message = f"$ {command.text}\nended with exit status {status} and printed\n{printed}"
        raise BlockError(command.place, message)
    if not command.shown.strip():
        return
    checker, example = OutputChecker(), Example(command.text, command.shown.rstrip())
    if not checker.check_output(example.want, f"{printed.rstrip()}\n", FLAGS):
        difference = checker.output_difference(example, printed, FLAGS)
        raise BlockError(command.place, f"$ {command.text}\n{difference}")


def _bash(*arguments: str, output: IO[bytes] | None = None) -> int:
    stderr = subprocess.STDOUT if output else None
    command = ["bash", *arguments]
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=output, stderr=stderr, check=False
    ).returncode
