"""Which settings rule which file: those of the nearest folder above it that has any.

So a file is judged alike whether it is named alone or with the folders around it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from plugin_utils.checker.config import Config, read_config

__all__ = ("Settings",)


@dataclass(frozen=True, slots=True)
class _Ruled:
    """What holds for everything that stands in one folder."""

    config: Config
    is_excluded: bool = False
    """Whether the folder, or one around it, is excluded by settings above that one."""


def _folder_of(real: str) -> str:
    return os.path.dirname(real)  # noqa: PTH120 - pathlib takes ten times as long


def _as_it_is(config: Config) -> Config:
    return config


class Settings:
    """The settings of every folder, each read once."""

    def __init__(
        self, overridden: Callable[[Config], Config] = _as_it_is, *, isolated: bool = False
    ) -> None:
        """Begin with no folder read.

        Args:
            overridden: Gives what the command line makes of a folder's settings.
            isolated: Read no file, and take the defaults everywhere.
        """
        self._overridden = overridden
        self._is_isolated = isolated
        self._outermost = _Ruled(overridden(Config()))
        self._ruled: dict[str, _Ruled] = {}

    def of(self, path: str) -> Config:
        """Return what rules the file at `path`.

        Raises:
            ConfigError: The file that holds it is not TOML, or a setting cannot be meant.
        """
        return self._of_folder(_folder_of(os.path.realpath(path))).config

    def exclude(self, real: str) -> bool:
        """Tell whether the file or folder at `real`, a path without links, is excluded.

        Raises:
            ConfigError: As `of` does.
        """
        ruled = self._of_folder(_folder_of(real))
        return ruled.is_excluded or ruled.config.excludes(real)

    def _of_folder(self, folder: str) -> _Ruled:
        if self._is_isolated:
            return self._outermost
        if folder not in self._ruled:
            self._ruled[folder] = self._read(folder)
        return self._ruled[folder]

    def _read(self, folder: str) -> _Ruled:
        parent = _folder_of(folder)
        above = self._of_folder(parent) if parent != folder else self._outermost
        if above.is_excluded or above.config.excludes(folder):
            # What is excluded has no say, and its pyproject.toml may be of any kind.
            return _Ruled(above.config, is_excluded=True)
        own = read_config(folder)
        return _Ruled(self._overridden(own)) if own else above
