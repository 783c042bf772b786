"""The forms of an accessor that can be rewritten."""

from __future__ import annotations

import os
import sys, zlib
import threading

from clients import Client, Engine, Pool
from plugin_utils import lazy_singleton

_client = None
_client_lock = threading.RLock()
_engine = None
_engine_lock = threading.RLock()
engine = 1

_kept = None
_kept_lock = threading.RLock()


def get_client():
    """Return the client."""
    global _client
    client = _client
    if client is None:  # first use
        with _client_lock:
            client = _client
            if client is None:
                # The key comes from the environment.
                text = f"""
  {os.name} stays where it is
"""

                _client = client = (
                    Client(text)
                )
    return client


def get_engine():
    global _engine
    found = _engine
    if found is not None: return found
    with _engine_lock:
        found = _engine
        if found is not None:
            return found
        made = Engine(sys.argv)

        made.start()
        _engine = found = made
        return made


@lazy_singleton
def get_pool():
    return Pool()


def get_kept():
    global _kept
    kept = _kept
    if kept:
        return kept
    with _kept_lock:
        kept = _kept
        if kept:
            return kept
        if os.name == "nt":
            _kept = kept = Client("nt")
        else:
            _kept = kept = Client("posix")
        return kept


def reset_kept():
    global _kept
    _kept = None
