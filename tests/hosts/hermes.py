"""Hermes Agent, used as its own entry points use it.

For child processes: Hermes reads its home when it is imported, and keeps all it has loaded. Its
modules are imported by name, as they are not annotated and not there when types are checked.
"""

import json
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.support.overlap import Overlap

__all__ = ("agent", "call", "connections_opened", "delegate", "discover", "files_open")


def discover(*, again: bool = False) -> dict[str, Any]:
    """Have the plugins discovered, before any thread starts, and return them by name."""
    plugins = import_module("hermes_cli.plugins")
    plugins.discover_plugins(force=again)
    loaded: dict[str, Any] = plugins.get_plugin_manager()._plugins
    return loaded


def call(tool: str, **arguments: str) -> dict[str, Any]:
    """Call a tool as the agent loop does. What a handler raises comes back as `error`."""
    handle: Callable[..., str] = import_module("model_tools").handle_function_call
    answer: dict[str, Any] = json.loads(handle(tool, arguments, task_id="task"))
    return answer


def agent(model_url: str) -> Any:  # noqa: ANN401 - Hermes's class is not annotated
    """Return an agent that has the plugin's tools and asks the model at this address."""
    return import_module("run_agent").AIAgent(
        base_url=model_url,
        api_key="none",
        model="stand-in",
        quiet_mode=True,
        enabled_toolsets=["notes", "delegation"],
        skip_context_files=True,
        skip_memory=True,
        max_iterations=5,
    )


def delegate(parent: object, goals: list[str]) -> list[dict[str, Any]]:
    """Give each goal to a child agent of its own, all at the same time, and return the results."""
    tool: Callable[..., str] = import_module("tools.delegate_tool").delegate_task
    answer = json.loads(tool(tasks=[{"goal": goal} for goal in goals], parent_agent=parent))
    results: list[dict[str, Any]] = answer["results"]
    return results


def connections_opened(name: str) -> list[str]:
    """Return a list that grows with each SQLite connection to a file of this name.

    The first one takes until a second one is made, if the plugin lets that happen.
    """
    opened: list[str] = []
    overlap = Overlap()
    connect = sqlite3.connect

    def counting(database: Any, *args: Any, **options: Any) -> sqlite3.Connection:  # noqa: ANN401
        if Path(str(database)).name == name:
            opened.append(str(database))
            overlap()
        connection: sqlite3.Connection = connect(database, *args, **options)
        return connection

    patch.object(sqlite3, "connect", counting).start()
    return opened


def files_open(name: str) -> int:
    """Return how often this process has a file of this name open."""
    found = 0
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            found += entry.readlink().name == name
    return found
