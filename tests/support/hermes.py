"""Stands in for the host application, Hermes Agent."""

import sys
from types import ModuleType

import pytest

__all__ = ("plant",)


def plant(monkeypatch: pytest.MonkeyPatch, name: str, **members: object) -> None:
    """Make a module of the host importable until the test ends, with these members."""
    parts = name.split(".")
    for depth in range(1, len(parts) + 1):
        step = ".".join(parts[:depth])
        if step not in sys.modules:
            monkeypatch.setitem(sys.modules, step, ModuleType(step))
    for member, value in members.items():
        monkeypatch.setattr(sys.modules[name], member, value, raising=False)
