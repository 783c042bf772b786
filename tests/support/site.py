"""Builds the guide as `make site` does, for somebody who has a key."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from tests.support.planted import plant

__all__ = ("build",)

ROOT = Path(__file__).parents[2]
_QUIET = {"NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}


def build(
    folder: Path, *, tool: Literal["mkdocs", "properdocs"] = "mkdocs", limit: float = 50
) -> None:
    """Build the site into the folder, strictly: a warning is an error.

    Args:
        folder: Where the site goes.
        tool: The program that builds it.
        limit: Seconds until the build is given up.
    """
    with TemporaryDirectory() as home:
        done = subprocess.run(
            [sys.executable, "-m", tool, "build", "--strict", "-f", "mkdocs.yml", "-d", folder],
            cwd=ROOT,
            env={**os.environ, **plant(Path(home)), **_QUIET},
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
    assert done.returncode == 0, done.stderr
