"""The files that the Honcho settings come from. Whatever stands in them, reading does not fail."""

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from plugin_utils import _hermes

__all__ = ("find_config", "mapping", "read_config", "read_hermes_section", "section")

logger = logging.getLogger(__name__)


def find_config() -> Path:
    """Return where the Honcho settings are, or where they belong when there are none yet."""
    for folder in (_hermes.home(), Path.home() / ".hermes"):
        if (folder / "honcho.json").exists():
            return folder / "honcho.json"
    return Path.home() / ".honcho" / "config.json"


def read_config(path: Path) -> dict[str, Any] | None:
    """Return the object in a JSON file, or `None` if there is no file or no object in it."""
    try:
        parsed: object = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return None
    # ValueError: not UTF-8, not JSON, or a number of more than 4300 digits.
    except (OSError, ValueError, RecursionError) as error:
        _warn_ignored(path, str(error))
        return None
    found = mapping(parsed)
    if found is None:
        _warn_ignored(path, f"it holds a {type(parsed).__name__}, not an object")
    return found


def read_hermes_section() -> Mapping[str, object]:
    """Return the `honcho` section of the host's `config.yaml`, empty if there is none."""
    path = _hermes.home() / "config.yaml"
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        _warn_ignored(path, str(error))
        return {}
    parsed = _parse_yaml(path, text)
    if parsed is not None and mapping(parsed) is None:
        _warn_ignored(path, f"it holds a {type(parsed).__name__}, not a mapping")
    return section(mapping(parsed) or {}, "honcho")


def section(parsed: Mapping[str, object], name: str) -> Mapping[str, object]:
    """Return a mapping out of a mapping, empty if there is none of that name."""
    return mapping(parsed.get(name)) or {}


def mapping(value: object) -> dict[str, Any] | None:
    """Return the value if it is a mapping."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _parse_yaml(path: Path, text: str) -> object:
    try:
        import yaml  # Hermes brings it; nobody else has a config.yaml to read
    except ImportError:
        _warn_ignored(path, "PyYAML is not installed; to have it read: pip install pyyaml")
        return None
    try:
        parsed: object = yaml.safe_load(text)
    # Besides its own errors, PyYAML lets through what its conversions raise.
    except (
        yaml.YAMLError,
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        # The text of a YAML error quotes the lines around it, and a key may stand there.
        _warn_ignored(path, f"it is not YAML ({type(error).__name__})")
        return None
    return parsed


def _warn_ignored(path: Path, reason: str) -> None:
    logger.warning("%r is ignored: %s", str(path), reason)
