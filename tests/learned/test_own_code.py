"""What the library never does, seen in its source."""

import ast
from pathlib import Path

import pytest

import plugin_utils

ROOT = Path(plugin_utils.__file__).parent
# What runs in a plugin: not the checker, the runner of the guide, nor the helpers for tests.
SOURCES = [*ROOT.glob("_*.py"), ROOT / "fal.py", *ROOT.glob("aio/*.py"), *ROOT.glob("honcho/*.py")]

THREADS = {
    *("Process", "Thread", "Timer", "ThreadPoolExecutor", "start_new_thread"),
    *("run_in_executor", "to_thread"),
}
CLOCKS = {*("time", "sched", "monotonic", "perf_counter"), *("call_at", "call_later", "Timer")}


def words() -> set[str]:
    """Return every name that the library's source speaks of: modules, variables, attributes."""
    found: set[str] = set()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Name(id=name) | ast.Attribute(attr=name):
                    found.add(name)
                case ast.alias(name=name):
                    found.update(name.split("."))
                case ast.ImportFrom(module=str(name)):
                    found.update(name.split("."))
                case _:
                    pass
    return found


@pytest.mark.learned("registered-after-the-list-was-taken", "threads-at-the-fork")
def test_library_starts_no_thread() -> None:
    """So there is none that a shutdown could miss, or that could hold a lock at a fork."""
    assert "RLock" in words()
    assert words() & THREADS == set()


@pytest.mark.learned("no-timer-knows-the-users")
def test_library_looks_at_no_clock() -> None:
    """Nothing is dropped or closed because time has passed."""
    assert words() & CLOCKS == set()
