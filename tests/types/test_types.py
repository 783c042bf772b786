"""Both type checkers, on right and wrong uses of the primitives."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.child import ROOT
from tests.types import right

HERE = Path(__file__).parent


def mypy(path: Path) -> str:
    """Return mypy's report, in strict mode."""
    cache = f"--cache-dir={ROOT / '.cache' / 'mypy'}"  # its own: the options are not the project's
    return _report("-m", "mypy", "--config-file=", cache, "--strict", str(path))


def basedpyright(path: Path) -> str:
    """Return basedpyright's report, with the project's settings."""
    return _report("-m", "basedpyright", "--level", "error", str(path))


def _report(*command: str) -> str:
    ended = subprocess.run(
        [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return ended.stdout + ended.stderr


CHECKERS = pytest.mark.parametrize("check", [mypy, basedpyright])


@CHECKERS
@pytest.mark.promise(15)
def test_right_uses_have_the_right_types(check: Callable[[Path], str]) -> None:
    """The types of the factories come through, and nothing has to be ignored."""
    assert re.search(r"\bno issues found\b|^0 errors, 0 warnings", check(HERE / "right.py"))


@CHECKERS
@pytest.mark.promise(15)
def test_wrong_uses_are_errors(check: Callable[[Path], str], tmp_path: Path) -> None:
    """Every wrong use is an error in its line, and no other line is."""
    program = tmp_path / "wrong.py"
    program.write_text((HERE / "wrong.txt").read_text("utf-8"), "utf-8")
    lines = program.read_text("utf-8").splitlines()
    expected = {number for number, line in enumerate(lines, 1) if "# wrong:" in line}
    found = {int(number) for number in re.findall(r"wrong\.py:(\d+).*error", check(program))}
    assert found == expected


def test_right_uses_run() -> None:
    """What the checkers accept works."""
    right.use()
    for accessor in (right.client, right.closing_client):
        accessor.reset()
