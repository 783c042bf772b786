"""Checking many files: finding them, spreading them over processes, collecting what was found."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from plugin_utils.checker.check import check_source, unparsable
from plugin_utils.checker.config import Config
from plugin_utils.checker.model import Finding
from plugin_utils.checker.source import decode

__all__ = ("MANY", "Report", "check_bytes", "check_file", "check_files", "python_files")

MANY = 200
"""Above this number of files the work is spread over processes, and progress is shown."""

# Never a project's own source.
_SKIPPED = frozenset("""
    .cache .git .hg .mypy_cache .nox .pytest_cache .ruff_cache .svn .tox .venv .venvs __pycache__
    node_modules site-packages venv
    """.split())  # fmt: skip
_CHUNK = 8


@dataclass(slots=True)
class Report:
    """What a run found, and what it could not read."""

    findings: list[Finding] = field(default_factory=list)
    files: int = 0
    unreadable: list[str] = field(default_factory=list)
    """One message a path."""


def python_files(paths: Iterable[str], config: Config, report: Report) -> list[str]:
    """Return the files to check: each file that is named, and each `.py` file in a named folder.

    A pipe is read only if it is named: in a folder, nobody may ever write into it.
    """
    found: dict[str, None] = {}
    for path in paths:
        if Path(path).is_dir():
            found.update(dict.fromkeys(_inside(path, config, report)))
        elif not config.excludes(path):
            found[path] = None
    return list(found)


def _inside(folder: str, config: Config, report: Report) -> Iterator[str]:
    def note(error: OSError) -> None:
        report.unreadable.append(f"{error.filename}: {error.strerror}")

    for parent, folders, files in os.walk(folder, onerror=note):
        folders[:] = sorted(
            name
            for name in folders
            if name not in _SKIPPED and not config.excludes(f"{parent}/{name}")
        )
        for name in sorted(files):
            path = Path(parent, name)
            if name.endswith(".py") and not config.excludes(str(path)) and not path.is_fifo():
                yield str(path)


def check_file(path: str) -> list[Finding] | OSError:
    """Return everything found in the file at `path`, or the reason why it cannot be read."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        return error
    with _without_collection():
        return check_bytes(data, path)


def check_bytes(data: bytes, path: str) -> list[Finding]:
    """Return everything found in a file that holds `data`."""
    try:
        text = decode(data).text
    except (SyntaxError, UnicodeError, LookupError) as error:
        return [unparsable(error, path)]
    return check_source(text, path)


@contextmanager
def _without_collection() -> Generator[None]:
    """Keep the garbage collector away: a syntax tree is many objects, and all of them in use."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def check_files(
    paths: list[str], config: Config, report: Report, progress: Callable[[int], object]
) -> None:
    """Check every file of `paths` into `report`; `progress` hears how many are done."""
    for done, (path, found) in enumerate(zip(paths, _checked(paths), strict=True), start=1):
        if isinstance(found, OSError):
            report.unreadable.append(f"{path}: {found.strerror}")
        else:
            report.files += 1
            report.findings += filter(config.shows, found)
        progress(done)


def _checked(paths: list[str]) -> Iterator[list[Finding] | OSError]:
    workers = _cpus()
    if len(paths) <= MANY or workers == 1:
        yield from map(check_file, paths)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(check_file, paths, chunksize=_CHUNK)


def _cpus() -> int:
    """Return how many processors this process may use."""
    affinity: Callable[[int], set[int]] | None = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
