"""What a spawned process imports: it gets the module, and none of the parent's instances."""

import os

from plugin_utils import lazy_singleton

__all__ = ("builder", "report")


@lazy_singleton
def builder() -> int:
    """Return the process that built it."""
    return os.getpid()


def report() -> None:
    """Fail unless this process builds its own."""
    assert builder.peek() is None
    assert builder() == os.getpid()
