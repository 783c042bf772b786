"""The command `plugin-utils` and its subcommands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from plugin_utils.cli import main

ROOT = Path(__file__).parents[1]
RUN = "import sys; from plugin_utils.cli import main; sys.exit(main())"


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    """On standard output, for it was asked for."""
    assert main(["--help"]) == 0
    assert "  check   find racy lazy singletons" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "trouble"),
    [(["chekc"], "there is no command 'chekc'"), ([], "a command is missing")],
)
def test_a_wrong_or_missing_command_is_refused(
    capsys: pytest.CaptureFixture[str], arguments: list[str], trouble: str
) -> None:
    """On standard error, with the commands there are."""
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"plugin-utils: {trouble}\n")
    assert "usage: plugin-utils COMMAND" in error


def test_a_command_gets_its_own_arguments(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the process, if none are given."""
    monkeypatch.setattr(sys, "argv", ["plugin-utils", "rule", "LS030"])
    assert main() == 0
    assert capsys.readouterr().out.startswith("# LS030")


@pytest.mark.parametrize(
    ("output", "code", "error"),
    [
        (">&-", 0, ""),
        pytest.param(
            ">/dev/full",
            2,
            "plugin-utils: [Errno 28] No space left on device\n",
            marks=pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here"),
        ),
    ],
)
def test_an_output_that_takes_nothing_gives_no_traceback(
    output: str, code: int, error: str
) -> None:
    """A closed output is nobody's loss; a full one is an error, in one line."""
    script = f'exec "{sys.executable}" -c "{RUN}" rule LS001 {output}'
    run = subprocess.run(
        ["/bin/sh", "-c", script],
        stderr=subprocess.PIPE,
        text=True,
        timeout=30,
        cwd=ROOT,
        check=False,
    )
    assert (run.returncode, run.stderr) == (code, error)


def test_a_reader_that_has_enough_is_no_error() -> None:
    """`plugin-utils ... | head -n 1` ends without a traceback."""
    command = [sys.executable, "-c", "from plugin_utils.cli import main; main()", "rule", "LS001"]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        run = subprocess.run(
            command, stdout=writing, stderr=subprocess.PIPE, timeout=30, cwd=ROOT, check=False
        )
    finally:
        os.close(writing)
    assert run.stderr == b""
