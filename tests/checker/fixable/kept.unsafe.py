"""Text inside the build stays where it is, and so do the comments of the build."""

import os
import threading
from plugin_utils import lazy_singleton

# The shared objects.

_pool = None
_pool_lock = threading.RLock()


@lazy_singleton
def get_client():
    """Return the client."""
    # The key comes from the environment.
    text = f"""
  {os.name} stays where it is
"""

    return (
        Client(text)  # no copy
    )


def get_pool():
    global _pool  # shared
    pool = _pool
    if not pool:  # first use
        with _pool_lock:
            pool = _pool
            if not pool:
                _pool = pool = Pool()
        # From here on it is there.
    # Never closed.
    return pool  # the one pool
