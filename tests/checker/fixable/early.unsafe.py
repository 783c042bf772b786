"""An early return, and a lock and imports that are there already."""
import threading

from plugin_utils import lazy_singleton


@lazy_singleton
def get_client():
    return Client()
