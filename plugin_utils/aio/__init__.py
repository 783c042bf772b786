"""Lazy singletons for coroutines: the same names as in `plugin_utils`, to be awaited.

Asyncio only. Importing this imports `asyncio`, which importing `plugin_utils` does not.
"""

from plugin_utils.aio._lazy import lazy_singleton
from plugin_utils.aio._slot import SingletonSlot

__all__ = ("SingletonSlot", "lazy_singleton")
