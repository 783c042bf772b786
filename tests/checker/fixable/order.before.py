"""The import goes where the alphabet puts it; the slot is known by a string elsewhere."""

import zlib


@decorated
def first():
    return zlib


_client = None
NAMES = ("_client",)


def get_client():
    global _client
    if _client is None:
        _client = Client()
    return _client
