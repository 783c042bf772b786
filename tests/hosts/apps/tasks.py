"""A Celery app whose task's client is built on first use, or by the parent if `WARM` says so."""

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

from plugin_utils.testing import run_together
from tests.hosts.apps.client import get_client

__all__ = ("app", "ask")

_FOLDER = os.environ["CELERY_FOLDER"]  # where messages and results are kept: no broker is needed

app: Any = import_module("celery").Celery(
    "tasks", broker="filesystem://", backend=f"file://{_FOLDER}"
)
app.conf.broker_transport_options = {
    "data_folder_in": _FOLDER,
    "data_folder_out": _FOLDER,
    "control_folder": f"{_FOLDER}/control",
}
app.conf.worker_prefetch_multiplier = 1


def ask() -> tuple[int, list[str]]:
    """Ask the server from four threads, and return this process's number and the answers."""
    return os.getpid(), run_together(4, lambda: get_client().ask(), timeout=60)


_task: Callable[..., Any] = app.task(name="ask")
_task(ask)


def _warm_up(**_: object) -> None:
    if os.environ["WARM"]:
        get_client()


import_module("celery.signals").worker_init.connect(_warm_up)  # in the parent, before it forks
