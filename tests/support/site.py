"""Builds the guide as `make site` does, for somebody who has a key.

`python -m tests.support.site FOLDER` builds it once for all tests, which then find it by `BUILT`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal

from tests.support.planted import plant

if TYPE_CHECKING:
    import pytest

__all__ = ("BUDGET", "BUILT", "build", "built")

BUILT = "BUILT_SITE"
"""The environment variable that names the folder of a site that was built just now."""
BUDGET = 15
"""Seconds that a strict build may take on two cores; above it, authors stop looking at it."""

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


def built(factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site: the one that `BUILT` names, or a new one."""
    if ready := os.environ.get(BUILT):
        return Path(ready)
    folder = factory.mktemp("site")
    build(folder)
    return folder


def main(folder: Path) -> None:
    """Build the site into the folder and say how long it took."""
    begun = time.perf_counter()
    build(folder)
    print(
        f"The site took {time.perf_counter() - begun:.1f} s to build strictly (budget: {BUDGET})."
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
