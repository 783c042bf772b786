import threading
from plugin_utils import lazy_singleton

@lazy_singleton
def get_client():
    return Client()


def get_names():
    global _names
    names = _names
    if names is None:
        with _names_lock:
            names = _names
            if names is None:
                _names = names = [1]
    return names


_names = None
_names_lock = threading.RLock()
