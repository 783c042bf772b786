"""`python -m tests.checker.labels FOLDER`: fetch the packages into FOLDER, measure, gate.

The gate is no regression: on the half that the checker was not developed on, it may not report
more that is safe, nor find less that is bad, than it did when the figures below were written.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

from plugin_utils.checker import Finding
from plugin_utils.checker.run import check_file
from tests.checker.labels.scoring import Label, Score, match, read_labels, score

RIGHT_HIGH_AT_LEAST = 14
WRONG_HIGH_AT_MOST = 1
FOUND_AT_LEAST = 16


def fetch(labels: list[Label], folder: Path) -> None:
    """Install each package, without its dependencies, into a folder of its own."""
    for package, version in sorted({(label.package, label.version) for label in labels}):
        target = folder / f"{package}-{version}"
        if not target.exists():
            print(f"fetching {package} {version}")
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
            options = ["--disable-pip-version-check", "--ignore-requires-python", "--target"]
            subprocess.run([*pip, *options, str(target), f"{package}=={version}"], check=True)


@cache
def findings_in(path: Path) -> list[Finding]:
    """Return everything found in the file at `path`."""
    found = check_file(str(path))
    if isinstance(found, OSError):
        raise found
    return found


def main() -> int:
    """Print the figures of both halves, and return 1 if the held-out half got worse."""
    folder = Path(sys.argv[1])
    labels = [label for label in read_labels() if label.scope == "process"]
    fetch(labels, folder)
    judged = [
        (label, found.level if found else None)
        for label in labels
        for found in [match(label, findings_in(_path(label, folder)))]
    ]
    held_out = [(label, level) for label, level in judged if label.is_held_out]
    developed = [(label, level) for label, level in judged if not label.is_held_out]
    for name, half in (("development half", developed), ("held-out half", held_out)):
        print(f"{name}, all process-wide sites:", *score(half).lines(), sep="\n")
        sure = [(label, level) for label, level in half if not label.is_arguable]
        print(f"{name}, without arguable sites:", *score(sure).lines(), sep="\n")
    return 0 if _is_as_good(score(held_out)) else 1


def _path(label: Label, folder: Path) -> Path:
    return folder / f"{label.package}-{label.version}" / label.file


def _is_as_good(total: Score) -> bool:
    wrong = total.reported_high - total.right_high
    return (
        total.right_high >= RIGHT_HIGH_AT_LEAST
        and wrong <= WRONG_HIGH_AT_MOST
        and total.found >= FOUND_AT_LEAST
    )


if __name__ == "__main__":
    sys.exit(main())
