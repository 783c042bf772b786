"""An SDK that is installed and imported once, on first use, or reported as missing."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from plugin_utils import lazy_singleton
from plugin_utils.testing import run_together

installs: list[str] = []


def ensure(package: str) -> None:
    """Stand for a host's installer, which runs pip."""
    installs.append(package)


@lazy_singleton
def load_sdk() -> ModuleType:
    """Return the SDK's module, installed and imported on the first call."""
    ensure("fal-client")
    try:
        return import_module("fal_client")
    except ModuleNotFoundError as error:
        if error.name != "fal_client":
            raise  # it is installed and broken: its own error says how
        msg = "this plugin needs the package fal-client: run `pip install fal-client`"
        raise ImportError(msg) from error


if __name__ == "__main__":
    modules = run_together(20, load_sdk)
    assert {module.__name__ for module in modules} == {"fal_client"}
    assert installs == ["fal-client"]
