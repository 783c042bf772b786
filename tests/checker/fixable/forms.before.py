"""The forms of an accessor that can be rewritten."""

from __future__ import annotations

import os
import sys, zlib

from clients import Client, Engine, Pool

_client = None
_engine = None
engine = 1

_pool: Pool | None = None
_kept = None


def get_client():
    """Return the client."""
    global _client
    if _client is None:  # first use
        # The key comes from the environment.
        text = f"""
  {os.name} stays where it is
"""

        _client = (
            Client(text)
        )
    return _client


def get_engine():
    global _engine
    if _engine is not None: return _engine
    made = Engine(sys.argv)

    made.start()
    _engine = made
    return made


def get_pool():
    global _pool
    if not _pool:
        _pool = Pool()

    return _pool


def get_kept():
    global _kept
    if _kept:
        return _kept
    if os.name == "nt":
        _kept = Client("nt")
    else:
        _kept = Client("posix")
    return _kept


def reset_kept():
    global _kept
    _kept = None
