def get_client():
    global _client
    if _client is None:
        _client = Client()
    return _client


def get_names():
    global _names
    if _names is None:
        _names = [1]
    return _names


_names = None
_client = None