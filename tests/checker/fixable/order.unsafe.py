"""The import goes where the alphabet puts it; the slot is known by a string elsewhere."""

import threading
import zlib


@decorated
def first():
    return zlib


_client = None
_client_lock = threading.RLock()
NAMES = ("_client",)


def get_client():
    global _client
    client = _client
    if client is None:
        with _client_lock:
            client = _client
            if client is None:
                _client = client = Client()
    return client
