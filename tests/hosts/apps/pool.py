"""The work of a process pool."""

import os

from tests.hosts.apps.client import get_client

__all__ = ("ask",)


def ask(_number: int) -> int:
    """Take the client, and return this process's number."""
    get_client()
    return os.getpid()
