"""Two first callers, and the SDK is installed twice at the same time."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from threading import Barrier
from types import ModuleType

installs: list[str] = []
installing = Barrier(2)


def ensure(package: str) -> None:
    """Stand for a host's installer, which runs pip for as long as a second call needs to come."""
    installing.wait(timeout=10)
    installs.append(package)
    sys.modules["some_sdk"] = ModuleType("some_sdk")


_sdk: ModuleType | None = None


def load_sdk() -> ModuleType:
    """Return the SDK's module, installed and imported on the first call."""
    global _sdk
    if _sdk is None:
        ensure("some-sdk")
        _sdk = import_module("some_sdk")
    return _sdk


if __name__ == "__main__":
    with ThreadPoolExecutor(2) as threads:
        calls = [threads.submit(load_sdk) for _ in range(2)]
    assert all(call.result() for call in calls)
    assert len(installs) == 1, f"pip ran {len(installs)} times at once"
