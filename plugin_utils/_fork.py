"""What a forked child must renew: locks, waits, and instances that belong to the parent.

One hook serves every slot. It runs in the child, in the only thread that is left, before any of
the program's own code: cheaper, and safer, than taking every lock before each fork.
"""

from __future__ import annotations

import os
from _weakrefset import WeakSet  # what `weakref` re-exports, without the rest: half a millisecond

from plugin_utils._gate import forget_waits
from plugin_utils._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Protocol

    class Renewable(Protocol):
        """What the hook renews."""

        def renew(self) -> None:
            """Forget the parent's threads, and let go of what the parent built."""


__all__ = ("alive", "register", "set_aside")

_alive: WeakSet[Renewable] = WeakSet()


def register(state: Renewable) -> None:
    """Have `state.renew()` called in every forked child for as long as `state` lives."""
    _alive.add(state)


def alive() -> list[Renewable]:
    """Return everything registered that still lives."""
    while True:
        try:
            return list(_alive)
        except RuntimeError:  # another thread has just registered something: look again
            continue


def set_aside(instance: object) -> None:
    """Keep an instance of the parent's alive until the child has ended, finaliser included.

    Its finaliser would write to a connection that the parent still uses. Module globals do not
    keep it from running: the interpreter clears them on its way out. This reference is never
    cleared: a code object's constants are invisible to the garbage collector, so it cannot see
    that the list and the code object keep each other alive.
    """
    box: list[object] = [instance]
    box.append(set_aside.__code__.replace(co_consts=(box,)))


def _renew_all() -> None:
    forget_waits()
    for state in alive():
        state.renew()


if hasattr(os, "register_at_fork"):  # absent where there is no fork, as on Windows
    os.register_at_fork(after_in_child=_renew_all)
