"""What the checker says: a finding, and how sure it is of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import PurePath

__all__ = ("PARSE_ERROR", "Finding", "Level", "url_of")

PARSE_ERROR = "LS000"
"""The code of a file that could not be parsed; it has no rule of its own to switch on."""

# An address that is reserved for examples: whoever publishes the guide puts theirs here.
_PAGES = "https://plugin-utils.example.org/reference/rules"


class Level(IntEnum):
    """How sure a finding is, and how much it costs; compared by order."""

    INFO = 0
    MEDIUM = 1
    HIGH = 2

    @property
    def label(self) -> str:
        """The level as it is written on the command line."""
        return self.name.lower()


def url_of(code: str) -> str:
    """Return the address of the page that explains the rule `code`."""
    return f"{_PAGES}/{code}.html"


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One place where a shared object can be built twice, seen half-built or seen torn.

    Findings sort by path, line and column, the order in which they are printed.
    """

    path: str
    line: int
    column: int
    """Counts from 1, in characters."""
    end_line: int
    code: str
    level: Level
    function: str
    """The qualified name of the function; empty for a file that does not parse."""
    name: str
    """The slot, as the source spells it: `_client`, `Bus._instance`, `_rooms[...]`."""
    message: str
    fixable: bool = field(default=False, compare=False)
    refusal: str = field(default="", compare=False)
    """Why it is not fixable, if only its lock stands in the way."""

    @property
    def url(self) -> str:
        """The address of the page that explains the rule."""
        return url_of(self.code)

    def as_dict(self) -> dict[str, str | int]:
        """Return the finding as the JSON output spells it."""
        return {
            "code": self.code,
            "level": self.level.label,
            "path": PurePath(self.path).as_posix(),
            "line": self.line,
            "column": self.column,
            "end_line": self.end_line,
            "function": self.function,
            "name": self.name,
            "message": self.message,
            "url": self.url,
        }
