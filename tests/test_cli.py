"""The command `plugin-utils` and its subcommands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from plugin_utils.cli import main

ROOT = Path(__file__).parents[1]


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
