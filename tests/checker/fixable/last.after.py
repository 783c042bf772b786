import threading

def get_client():
    global _client
    client = _client
    if client is None:
        with _client_lock:
            client = _client
            if client is None:
                _client = client = Client()
    return client


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
_client = None
_client_lock = threading.RLock()
