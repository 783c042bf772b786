"""What the user asked for: `[tool.plugin-utils.check]` in pyproject.toml, and the command line."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeGuard, cast

from plugin_utils.checker.model import Finding, Level
from plugin_utils.checker.rules import PAGES

__all__ = ("Config", "ConfigError", "check_codes", "parse_level", "read_config")


class ConfigError(Exception):
    """A setting that cannot be meant: the message says which, and what would do."""


@dataclass(frozen=True, slots=True)
class Config:
    """Which findings are shown, and which files are looked at."""

    select: tuple[str, ...] = ("LS",)
    """Codes or beginnings of codes."""
    ignore: tuple[str, ...] = ()
    level: Level = Level.MEDIUM
    exclude: tuple[str, ...] = ()
    """Patterns of paths relative to `root`; a folder's pattern covers what is in it."""
    root: str = ""
    """The folder that the settings stand in."""

    def shows(self, finding: Finding) -> bool:
        """Tell whether `finding` is asked for."""
        selected = finding.code.startswith(self.select) and not finding.code.startswith(self.ignore)
        return selected and finding.level >= self.level

    def excludes(self, real: str) -> bool:
        """Tell whether the file or folder at `real`, a path without links, is excluded."""
        if not self.exclude:
            return False
        relative = Path(os.path.relpath(real, self.root))
        wholes = (folder.as_posix() for folder in (relative, *relative.parents))
        names = [*wholes, *relative.parts]
        patterns = [pattern.rstrip("/") for pattern in self.exclude]
        return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def read_config(folder: str) -> Config | None:
    """Return the settings in the pyproject.toml of `folder`, or `None` if it has none for us.

    Raises:
        ConfigError: The file is not TOML, or a setting is unknown or of the wrong kind.
    """
    file = Path(folder, "pyproject.toml")
    table = _table(file)
    try:
        return None if table is None else _config(table, folder)
    except ConfigError as error:
        message = f"{file}: {error}"
        raise ConfigError(message) from error


def _table(file: Path) -> dict[str, object] | None:
    try:
        table: object = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError:
        return None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        message = f"{file} is not TOML: {error}"
        raise ConfigError(message) from error
    for key in ("tool", "plugin-utils", "check"):
        if not _is_table(table) or key not in table:
            return None
        table = table[key]
    if not _is_table(table):
        message = f"{file}: [tool.plugin-utils.check] must be a table, not {table!r}"
        raise ConfigError(message)
    return table


def _is_table(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


def _config(table: dict[str, object], root: str) -> Config:
    unknown = table.keys() - {"select", "ignore", "level", "exclude"}
    if unknown:
        message = (
            f"[tool.plugin-utils.check] has no setting {min(unknown)!r}:"
            " there are select, ignore, level and exclude"
        )
        raise ConfigError(message)
    return Config(
        select=check_codes("select", _strings("select", table.get("select", ["LS"]))),
        ignore=check_codes("ignore", _strings("ignore", table.get("ignore", []))),
        level=parse_level(table.get("level", "medium")),
        exclude=_strings("exclude", table.get("exclude", [])),
        root=root,
    )


def _strings(name: str, value: object) -> tuple[str, ...]:
    if not _is_strings(value):
        message = f"{name} must be a list of strings, not {value!r}"
        raise ConfigError(message)
    return tuple(value)


def _is_strings(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(v, str) for v in cast("list[object]", value))


def check_codes(name: str, codes: Iterable[str]) -> tuple[str, ...]:
    """Return `codes`, each of which is a rule's code or the beginning of one.

    Raises:
        ConfigError: One of them is neither.
    """
    codes = tuple(codes)
    for code in codes:
        if not code or not any(known.startswith(code) for known in PAGES):
            message = f"{name} names {code!r}, which is no rule: there are {', '.join(PAGES)}"
            raise ConfigError(message)
    return codes


def parse_level(value: object) -> Level:
    """Return the level that is spelt `value`.

    Raises:
        ConfigError: There is no such level.
    """
    for level in Level:
        if value == level.label:
            return level
    message = f"level must be high, medium or info, not {value!r}"
    raise ConfigError(message)
