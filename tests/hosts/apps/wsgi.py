"""A WSGI app whose client is built on first use, or in the parent if `WARM` says so."""

import json
import os
from collections.abc import Callable, Iterable
from typing import Any

from tests.hosts.apps.client import get_client

__all__ = ("app",)

Start = Callable[[str, list[tuple[str, str]]], object]


def app(_environ: dict[str, Any], start_response: Start) -> Iterable[bytes]:
    """Answer with this process's number and with what the server says."""
    answer = {"pid": os.getpid(), "answer": get_client().ask()}
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps(answer).encode()]


if os.environ.get("WARM"):
    get_client()
