"""An accessor that is defined under a condition."""

import sys
from plugin_utils import lazy_singleton

if sys.platform != "win32":

    @lazy_singleton
    def get_client():
        return Client()
