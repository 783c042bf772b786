"""An accessor that is defined under a condition."""

import sys
import threading

_client = None
_client_lock = threading.RLock()

if sys.platform != "win32":

    def get_client():
        global _client
        client = _client
        if client is None:
            with _client_lock:
                client = _client
                if client is None:
                    _client = client = Client()
        return client
