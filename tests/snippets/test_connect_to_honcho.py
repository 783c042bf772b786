"""The snippets that start a stand-in for the server end, also where the SDK is missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SNIPPETS = Path(__file__).parents[2] / "snippets"


@pytest.mark.parametrize("kind", ["racy", "fixed"])
def test_without_the_sdk_the_snippet_ends_with_its_error(kind: str, tmp_path: Path) -> None:
    """The server's thread does not keep the process: the reader sees what to install."""
    (tmp_path / "honcho.py").write_text(
        "raise ModuleNotFoundError(__name__, name=__name__)\n", "utf-8"
    )
    done = subprocess.run(
        [sys.executable, SNIPPETS / kind / "connect_to_honcho.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=15,
        check=False,
    )
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: ")
    assert "honcho-ai" in last
