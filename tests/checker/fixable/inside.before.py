"""An accessor that is defined under a condition."""

import sys

_client = None

if sys.platform != "win32":

    def get_client():
        global _client
        if _client is None:
            _client = Client()
        return _client
