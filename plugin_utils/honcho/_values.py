"""What one value of a config file or of the environment means, whatever its type.

Each `first_...` function takes the places where a setting may stand, most specific first, and
returns the first usable value. An unusable one is passed over with a warning that names the place
and never shows the value: a key pasted into the wrong line would end up in the log.
"""

import logging
from collections.abc import Callable, Iterable
from typing import Literal, TypeVar

__all__ = (
    "ENVIRONMENTS",
    "KEY_FORM",
    "Environment",
    "Places",
    "first_environment",
    "first_flag",
    "first_key",
    "first_seconds",
    "first_text",
    "first_url",
    "usable_key",
    "usable_seconds",
)

T = TypeVar("T")
Places = Iterable[tuple[str, object]]

logger = logging.getLogger(__name__)

Environment = Literal["local", "production"]
ENVIRONMENTS: tuple[Environment, ...] = ("local", "production")
"""The two that the SDK knows."""

KEY_FORM = "printable ASCII characters"
"""What `usable_key` takes, for messages: the key itself is never shown."""

_LONGEST = 2_147_483.0  # seconds; the socket's poll() takes milliseconds in a C int
_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})


def first_text(places: Places) -> str | None:
    """Return the first text that can be printed, without the blanks around it."""
    return _first(places, _text, "text without control characters")


def first_url(places: Places) -> str | None:
    """Return the first URL, without the blanks around it."""
    return _first(places, _url, "a URL without blanks and control characters")


def first_key(places: Places) -> str | None:
    """Return the first key that can be sent as a header."""
    return _first(places, usable_key, f"a key of {KEY_FORM}")


def first_seconds(places: Places) -> float | None:
    """Return the first time limit, in seconds."""
    return _first(places, usable_seconds, f"a number of seconds above 0, up to {_LONGEST:.0f}")


def first_flag(places: Places) -> bool | None:
    """Return the first truth value."""
    return _first(places, _flag, "true or false")


def first_environment(places: Places) -> Environment | None:
    """Return the first name of an environment that the SDK accepts."""
    return _first(places, _environment, f"one of {ENVIRONMENTS}")


def usable_key(value: object) -> str | None:
    """Return the key, or `None` if it could not be sent.

    The HTTP library refuses a header with control characters in an error that quotes the header.
    """
    key = _text(value)
    return key if key is not None and key.isascii() else None


def usable_seconds(value: object) -> float | None:
    """Return the number of seconds, or `None` if it cannot be a time limit."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        seconds = float(value)
    except (ValueError, OverflowError):
        return None
    return seconds if 0 < seconds <= _LONGEST else None  # not a number fails both comparisons


def _first(places: Places, read: Callable[[object], T | None], expected: str) -> T | None:
    for place, value in places:
        if value is None or (isinstance(value, str) and not value.strip()):
            continue
        usable = read(value)
        if usable is not None:
            return usable
        logger.warning("%r is ignored: it must be %s", place, expected)
    return None


def _text(value: object) -> str | None:
    text = value.strip() if isinstance(value, str) else ""
    return text if text and text.isprintable() else None


def _url(value: object) -> str | None:
    url = _text(value)
    return url if url is not None and " " not in url else None


def _flag(value: object) -> bool | None:
    word = str(value).strip().lower() if isinstance(value, int | str) else ""
    return True if word in _TRUE else False if word in _FALSE else None


def _environment(value: object) -> Environment | None:
    name = _text(value)
    return next((known for known in ENVIRONMENTS if known == name), None)
