"""Thread-safe lazy singletons for plugins.

Importing this package imports the standard library only, and little of it.

PYTEST_DONT_REWRITE (for pytest, which would warn where this was imported before it started: there
is no assertion in here to rewrite)
"""

from plugin_utils._keyed import KeyedSlots
from plugin_utils._lazy import lazy_singleton
from plugin_utils._slot import SingletonSlot
from plugin_utils.errors import BuildDeadlockError, RecursiveBuildError, SingletonError

__all__ = (
    "BuildDeadlockError",
    "KeyedSlots",
    "RecursiveBuildError",
    "SingletonError",
    "SingletonSlot",
    "lazy_singleton",
)

__version__ = "0.1.0"
