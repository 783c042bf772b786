"""An SDK that is installed and imported once, on first use, or reported as missing."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

from plugin_utils import lazy_singleton
from plugin_utils.testing import run_together

installs: list[str] = []


def ensure(package: str) -> None:
    """Stand for a host's installer, which runs pip: after it, the module can be imported."""
    installs.append(package)
    sys.modules["some_sdk"] = ModuleType("some_sdk")


@lazy_singleton
def load_sdk() -> ModuleType:
    """Return the SDK's module, installed and imported on the first call."""
    ensure("some-sdk")
    try:
        return import_module("some_sdk")
    except ModuleNotFoundError as error:
        if error.name != "some_sdk":
            raise  # it is installed and broken: its own error says how
        msg = "this plugin needs the package some-sdk: run `pip install some-sdk`"
        raise ImportError(msg) from error


if __name__ == "__main__":
    modules = run_together(20, load_sdk)
    assert {module.__name__ for module in modules} == {"some_sdk"}
    assert installs == ["some-sdk"]
