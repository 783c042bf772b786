"""Writing a file so that nobody ever finds half of it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from stat import S_IMODE

__all__ = ("replace_content",)


def replace_content(path: str, data: bytes) -> None:
    """Put `data` in the place of what the file at `path` holds, all at once or not at all.

    The file keeps its mode, and its owner where the system allows; a link to it stays a link.

    Raises:
        OSError: The file or its folder cannot be written. Nothing has changed.
    """
    target = Path(path).resolve()
    with target.open("r+b"):  # whoever may not write into a file shall not replace it either
        found = target.stat()
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    new = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        _give(new, found)
        new.replace(target)
    finally:
        new.unlink(missing_ok=True)


def _give(new: Path, like: os.stat_result) -> None:
    chown: Callable[[Path, int, int], None] | None = getattr(os, "chown", None)
    if chown is not None:  # there is none on Windows
        with suppress(PermissionError):
            chown(new, like.st_uid, like.st_gid)
    new.chmod(S_IMODE(like.st_mode))  # last, for a new owner can cost it some of its bits
