"""An early return, and a lock and imports that are there already."""
import threading

from plugin_utils import lazy_singleton

_client = None


def get_client():
    global _client
    if _client is not None:
        return _client

    _client = Client()
    return _client
