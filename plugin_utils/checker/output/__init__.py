"""How findings are shown: one module a format, each with a `render` function."""

from __future__ import annotations

from collections.abc import Callable

from plugin_utils.checker.output import github, json, sarif, text
from plugin_utils.checker.run import Report

__all__ = ("FORMATS",)

FORMATS: dict[str, Callable[[Report], str]] = {
    "text": text.render,
    "json": json.render,
    "github": github.render,
    "sarif": sarif.render,
}
"""Every output format by its name on the command line."""
