"""The one lock of the coroutine primitives."""

from __future__ import annotations

from threading import RLock

from plugin_utils._gate import register

__all__ = ("guard",)


class _Guard:
    """The lock around every slot's table and every build's waits.

    One lock is enough: a circle of waits crosses slots, and whoever looks for it must see all.

    Held for a few lines, on a miss only, and never while a factory, a `close` or a task factory
    runs. Re-entrant: a finaliser or a signal handler that runs while it is held may call `reset`.
    """

    __slots__ = ("__weakref__", "lock")

    def __init__(self) -> None:
        self.renew()
        register(self)

    def renew(self) -> None:
        """Start over in a forked child, where the thread that held the lock may not exist."""
        self.lock = RLock()


guard = _Guard()
