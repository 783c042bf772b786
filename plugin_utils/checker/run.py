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
from plugin_utils.checker.model import Finding
from plugin_utils.checker.settings import Settings
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
    """What a run found, and what it could not read or write."""

    findings: list[Finding] = field(default_factory=list)
    files: int = 0
    unreadable: list[str] = field(default_factory=list)
    """One message a path."""
    unwritable: list[str] = field(default_factory=list)
    """One message a file that stays as it was."""


def python_files(paths: Iterable[str], settings: Settings, report: Report) -> list[str]:
    """Return the files to check: each file that is named, and each `.py` file in a named folder.

    Each is returned once, by the first of its names. A pipe is read only if it is named: in a
    folder, nobody may ever write into it.

    Raises:
        ConfigError: The settings of a folder on the way cannot be meant.
    """
    found: dict[str, str] = {}
    for path in paths:
        for file in _inside(path, settings, report) if Path(path).is_dir() else [path]:
            real = os.path.realpath(file)
            if real not in found and not settings.exclude(real):
                found[real] = file
    return list(found.values())


def _inside(folder: str, settings: Settings, report: Report) -> Iterator[str]:
    def note(error: OSError) -> None:
        report.unreadable.append(f"{error.filename}: {error.strerror}")

    for parent, folders, files in os.walk(folder, onerror=note):
        real = os.path.realpath(parent)
        folders[:] = sorted(
            name
            for name in folders
            if name not in _SKIPPED and not settings.exclude(f"{real}/{name}")
        )
        for name in sorted(files):
            path = Path(parent, name)
            if name.endswith(".py") and not path.is_fifo():
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
    paths: list[str], settings: Settings, report: Report, progress: Callable[[int], object]
) -> None:
    """Check every file of `paths` into `report`; `progress` hears how many are done."""
    for done, (path, found) in enumerate(zip(paths, _checked(paths), strict=True), start=1):
        if isinstance(found, OSError):
            report.unreadable.append(f"{path}: {found.strerror}")
        else:
            report.files += 1
            report.findings += filter(settings.of(path).shows, found) if found else ()
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
