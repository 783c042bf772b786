"""The schedules in which the racy snippets go wrong, as the explorer finds them.

`python -m tests.interleaving.schedules` (`make schedules`) writes them where the pages include
them. Opcodes differ between versions of Python, and so do schedules: these are of `VERSION`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Barrier, Event
from typing import Any

from plugin_utils.testing import explore, fresh

__all__ = ("FOLDER", "MODELS", "VERSION", "WITHOUT", "find", "main")

FOLDER = Path(__file__).parents[2] / "snippets" / "racy" / "schedules"
VERSION = (3, 11)

Check = Callable[[list[Any]], object]
Model = tuple[Sequence[Callable[[], object]], Check]


class _Open:
    """Takes the place of what forces a snippet's bad moment: nobody waits for it."""

    def set(self) -> None:
        """Do nothing."""

    def wait(self, timeout: float) -> None:
        """Do nothing, for no time."""


def _snippet(name: str) -> Any:  # noqa: ANN401 - each snippet has names of its own
    """Return the snippet, freshly imported and with nothing in it that forces its bad moment."""
    module = fresh(import_module(f"snippets.racy.{name}"))
    for cls in [item for item in vars(module).values() if isinstance(item, type)]:
        for attribute, value in list(vars(cls).items()):
            if isinstance(value, Barrier | Event):
                setattr(cls, attribute, _Open())
    return module


def _two_first_calls(name: str) -> Model:
    """Two threads call the accessor first."""
    module = _snippet(name)

    def check(_: list[Any]) -> None:
        assert len(module.Client.built) == 1, f"{len(module.Client.built)} clients were built"

    return [module.get_client] * 2, check


def _two_workspaces() -> Model:
    module = _snippet("client_with_config")

    def check(clients: list[Any]) -> None:
        used = {client.workspace for client in clients}
        assert len(used) == 1, f"one process writes to {sorted(used)}"

    return [partial(module.get_client, name) for name in ("home", "work")], check


def _lost_reset() -> Model:
    module = _snippet("migrate_racy_accessor")
    module.settings = "old"
    construct = module.Client.__init__

    def read_settings(client: Any) -> None:  # noqa: ANN401 - the snippet's own class
        client.settings = module.settings
        construct(client)

    module.Client.__init__ = read_settings

    def change() -> None:
        module.settings = "new"
        module.reset_client()

    def check(_: list[Any]) -> None:
        assert module.get_client().settings == "new", "the reset was lost: the old client is back"

    return [module.get_client, change], check


def _closed_client() -> Model:
    module = _snippet("close_on_reset")
    module.get_client()

    def get() -> bool:
        return bool(module.get_client().is_open)

    def check(results: list[Any]) -> None:
        assert results[0], "get_client() returned a closed client"

    return [get, module.reset_client], check


def _half_built() -> Model:
    module = _snippet("recover_from_failed_build")
    module.Client.tries.append(None)  # the server answers this time

    def check(results: list[Any]) -> None:
        assert None not in results, "a caller got None during the build"

    return [module.get_client] * 2, check


def _lost_count() -> Model:
    module = _snippet("free_threaded")
    client = module.get_client()

    def check(_: list[Any]) -> None:
        assert client.sent == 2, f"2 messages sent, {client.sent} counted"

    return [client.send] * 2, check


def _two_daemons() -> Model:
    module = _snippet("per_instance_and_per_thread")
    provider = module.Provider()

    def check(_: list[Any]) -> None:
        started = len(module.Daemon.started)
        assert started == 1, f"{started} daemons were started"

    return [provider.daemon] * 2, check


def _torn_read() -> Model:
    module = _snippet("torn_reset")
    module.slot.get()

    def check(results: list[Any]) -> None:
        assert results[0] is not None, "get() returned None"

    return [module.slot.get, module.slot.reset], check


def _two_for_one_change() -> Model:
    module = _snippet("honcho_case_study")
    module.let_in = _let_nobody_in
    module.settings.update(workspace="home", timeout=45)
    module.get_client()
    module.settings["timeout"] = 300

    def check(_: list[Any]) -> None:
        made = len(module.Client.built) - 1
        assert made == 1, f"{made} new clients for one change"

    return [module.get_client] * 2, check


def _let_nobody_in(place: str) -> None:
    """Do nothing."""


def _new_client_dropped() -> Model:
    module = _snippet("rebuild_when_config_changed")
    module.current_thread = module.main_thread  # no thread is made slow
    module.get_client()
    module.settings["timeout"] = "300"

    def check(_: list[Any]) -> None:
        made = len(module.Client.built) - 1
        assert made == 1, f"{made} new clients for one change"

    return [module.get_client] * 2, check


def _closed_in_use() -> Model:
    module = _snippet("retire_while_in_use")
    module.ask()

    def replace() -> None:
        module._client_slot.reset()

    def check(results: list[Any]) -> None:
        assert results[0] == "the answer", results[0]

    return [module.ask, replace], check


MODELS: dict[str, Callable[[], Model]] = {
    "client_with_config": _two_workspaces,
    "close_on_reset": _closed_client,
    "free_threaded": _lost_count,
    "honcho_case_study": _two_for_one_change,
    "migrate_racy_accessor": _lost_reset,
    "one_client_per_profile": partial(_two_first_calls, "one_client_per_profile"),
    "per_instance_and_per_thread": _two_daemons,
    "rebuild_when_config_changed": _new_client_dropped,
    "recover_from_failed_build": _half_built,
    "retire_while_in_use": _closed_in_use,
    "share_one_client": partial(_two_first_calls, "share_one_client"),
    "torn_reset": _torn_read,
    "warm_up": partial(_two_first_calls, "warm_up"),
}

_NO_THREADS = "between processes or tasks, which the explorer does not run"
_ONE_THREAD = "in one thread: there is nothing to schedule"
_OUTSIDE = "in code that the explorer cannot see into: a server, or pip"

WITHOUT = {
    "after_fork": _NO_THREADS,
    "close_at_exit": _ONE_THREAD,
    "connect_to_honcho": _OUTSIDE,
    "fake_in_a_slot": _ONE_THREAD,
    "once_per_machine": _NO_THREADS,
    "optional_sdk": _OUTSIDE,
    "reset_in_tests": _ONE_THREAD,
    "test_your_accessor": "the accessor of another snippet, tested",
    "two_event_loops": _NO_THREADS,
    "use_from_async": _NO_THREADS,
}
"""Why a racy snippet has no listing: what goes wrong in it is ..."""


# What the snippets use: the listings show their own lines only.
_LIBRARY = [module for name, module in sys.modules.items() if name.startswith("plugin_utils._")]


def find(name: str) -> str:
    """Return the failing schedule of a snippet, as it is committed."""
    module = import_module(f"snippets.racy.{name}")
    result = explore(MODELS[name], watch=[module], hide=_LIBRARY, bound=1)
    assert result.failure is not None, f"no schedule of {name} fails: {result}"
    return f"{result.failure}\n\n{result.listing}".rstrip() + "\n"


def main() -> int:
    """Write all schedules; 1 if this is not the Python that they are of."""
    if sys.version_info[:2] != VERSION:
        print(f"these schedules are of Python {VERSION}, not {sys.version_info[:2]}")
        return 1
    FOLDER.mkdir(exist_ok=True)
    for name in MODELS:
        (FOLDER / f"{name}.txt").write_text(find(name), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
