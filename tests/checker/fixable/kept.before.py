"""Text inside the build stays where it is, and so do the comments of the build."""

import os

# The shared objects.

_client = None
_pool = None


def get_client():
    """Return the client."""
    global _client
    if _client is None:
        # The key comes from the environment.
        text = f"""
  {os.name} stays where it is
"""

        _client = (
            Client(text)  # no copy
        )
    return _client


def get_pool():
    global _pool  # shared
    if not _pool:  # first use
        _pool = Pool()
        # From here on it is there.
    # Never closed.
    return _pool  # the one pool
