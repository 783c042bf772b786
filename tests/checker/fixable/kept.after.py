"""Text inside the build stays where it is, and so do the comments of the build."""

import os
import threading

# The shared objects.

_client = None
_client_lock = threading.RLock()
_pool = None
_pool_lock = threading.RLock()


def get_client():
    """Return the client."""
    global _client
    client = _client
    if client is None:
        with _client_lock:
            client = _client
            if client is None:
                # The key comes from the environment.
                text = f"""
  {os.name} stays where it is
"""

                _client = client = (
                    Client(text)  # no copy
                )
    return client


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
