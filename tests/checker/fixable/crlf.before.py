"""Windows line ends."""

_client = None

def get_client():
    global _client
    if _client is None:
        _client = Client()
    return _client