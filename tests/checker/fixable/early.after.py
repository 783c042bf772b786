"""An early return, and a lock and imports that are there already."""
import threading

from plugin_utils import lazy_singleton

_client = None
_client_lock = threading.RLock()


def get_client():
    global _client
    client = _client
    if client is not None:
        return client
    with _client_lock:
        client = _client
        if client is not None:
            return client

        _client = client = Client()
        return client
