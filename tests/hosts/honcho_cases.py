"""What can go wrong with a cached Honcho client, replayed on Hermes's module and on ours.

Both have `get_honcho_client`, `reset_honcho_client` and `HonchoClientConfig`, and both build the
SDK's `honcho.Honcho`. A case puts one of them through a schedule and says what has gone wrong, or
nothing. For child processes: see `tests.hosts.hermes`.
"""

import json
import os
import ssl
from collections.abc import Callable
from functools import cache
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import plugin_utils
from plugin_utils.testing import reset_all
from tests.hosts.preempt import Preempt

__all__ = ("CASES", "Honcho", "replay")

HERMES = "plugins.memory.honcho.client"
OURS = "plugin_utils.honcho"
Client = Any
Config = Any


class Honcho:
    """One of the two modules, with a file of settings and a record of what is built.

    Args:
        name: The module.

    Attributes:
        built: Every client, kept, so that none is closed for want of a reference.
    """

    def __init__(self, name: str) -> None:
        module = import_module(name)
        self.ours = name == OURS
        self.get: Callable[..., Client] = module.get_honcho_client
        self.reset: Callable[[], None] = module.reset_honcho_client
        self.config: Callable[..., Config] = module.HonchoClientConfig
        self.from_file: Callable[[], Config] = module.HonchoClientConfig.from_global_config
        self.built: list[Client] = []
        # Reading the certificates takes longer than all the rest, and nothing here needs them.
        patch.object(ssl, "create_default_context", cache(ssl.create_default_context)).start()
        self._times = count(1_000_000_000_000_000_000, 1_000_000_000)
        self._time = 0
        self._module = module
        self._file = Path(os.environ["HERMES_HOME"], "honcho.json")
        sdk = import_module("honcho")
        construct: Callable[..., Client] = sdk.Honcho

        def spy(**options: Any) -> Client:  # noqa: ANN401 - the SDK's options, of many types
            client = construct(**options)
            self.built.append(client)
            return client

        patch.object(sdk, "Honcho", spy).start()  # both import it from there when they build

    @property
    def files(self) -> tuple[str, ...]:
        """Where the code is that a schedule can interrupt: the module's, and its helper's."""
        if self.ours:
            return (str(Path(plugin_utils.__file__).parent),)
        helper = import_module("plugins.plugin_utils")
        return (str(self._module.__file__), str(helper.__file__))

    def current(self) -> Client:
        """Return the client for the settings as they are now, in the way the module means it."""
        if self.ours:
            return self.for_config(self.from_file())
        return self.get()

    def for_config(self, config: Config) -> Client:
        """Return the client for a config, in the way the module means it."""
        if self.ours:
            return self._module.get_honcho_client_for(config)
        return self.get(config)

    def write(self, *, new_time: bool = True, **settings: Any) -> None:  # noqa: ANN401 - JSON
        """Write the user's settings, by default with a new time of change."""
        text = json.dumps({"baseUrl": "http://127.0.0.1:9", **settings})
        beside = self._file.with_suffix(".new")
        beside.write_text(text, "utf-8")
        if new_time:
            self._time = next(self._times)
        os.utime(beside, ns=(self._time, self._time))
        beside.replace(self._file)

    def start_over(self) -> None:
        """Drop every client there is."""
        self.reset()
        reset_all()
        self.built.clear()


def _interrupted(
    honcho: Honcho, line: int, first: Callable[[], object], second: Callable[[], object]
) -> str:
    # With ours any schedule must do, so one that goes on early, because the machine is slow, is as
    # good as the one meant. With Hermes's it must be the one that goes wrong.
    run = Preempt(line, honcho.files, limit=0.1 if honcho.ours else 2.0)
    run.run(first, second)
    return run.place


def double_reset(honcho: Honcho, line: int) -> tuple[str, str]:
    """Two threads find that the timeout has changed, and the slower one drops the new client."""
    honcho.write(timeout=45)
    honcho.current()
    honcho.write(timeout=300)
    place = _interrupted(honcho, line, honcho.current, honcho.current)
    new = len(honcho.built) - 1
    return place, f"{new} new clients for one change" if new != 1 else ""


def stale_peek(honcho: Honcho, line: int) -> tuple[str, str]:
    """A thread looks at the client; another one resets and builds; the first drops that one."""
    honcho.write(timeout=45)
    honcho.get()
    honcho.get()  # the first hit remembers the file's timeout
    seen: list[Client] = []

    def replace() -> None:
        honcho.reset()
        seen.append(honcho.get())

    place = _interrupted(honcho, line, honcho.get, replace)
    if seen and honcho.get() is not seen[0]:
        return place, "nothing has changed, and the new client was dropped"
    return place, ""


def timeout_beside_client(honcho: Honcho, line: int) -> tuple[str, str]:
    """A reset empties the slot, another thread builds, and the reset then forgets its timeout."""
    honcho.write(timeout=45)
    old = honcho.get()
    seen: list[Client] = []
    place = _interrupted(honcho, line, honcho.reset, lambda: seen.append(honcho.get()))
    if seen and seen[0] not in (None, old) and honcho.get() is not seen[0]:
        return place, "a client built after the reset was dropped by the next call"
    return place, ""


def none_during_reset(honcho: Honcho, line: int) -> tuple[str, str]:
    """A caller comes while the slot is between two of a reset's steps."""
    honcho.write(timeout=45)
    honcho.get()
    seen: list[Client] = []
    place = _interrupted(honcho, line, honcho.reset, lambda: seen.append(honcho.get()))
    return place, "get_honcho_client() has returned None" if None in seen else ""


def config_before_lock(honcho: Honcho, line: int) -> tuple[str, str]:
    """A first caller has read the settings; they change, with a reset; it then builds."""
    honcho.write(workspace="old")

    def change() -> None:
        honcho.write(workspace="new")
        honcho.reset()

    place = _interrupted(honcho, line, honcho.get, change)
    workspace = honcho.get().workspace_id
    if place and workspace != "new":
        return place, f"the reset has left a client for the workspace {workspace!r}"
    return place, ""


def memo_by_time_only(honcho: Honcho, _line: int) -> tuple[str, str]:
    """The settings change, and the file's time of change does not, as after a restore."""
    honcho.write(timeout=45)
    honcho.current()
    first = honcho.current()
    honcho.write(timeout=300, new_time=False)
    same = honcho.current() is first
    return "", "the change was not seen" if same else ""


def thrash(honcho: Honcho, _line: int) -> tuple[str, str]:
    """Two callers with two timeouts take turns."""
    configs = [honcho.config(base_url="http://127.0.0.1:9", timeout=each) for each in (45, 300)]
    for _ in range(5):
        for config in configs:
            honcho.for_config(config)
    built = len(honcho.built)
    return "", f"{built} clients for 2 configs" if built != 2 else ""


def _grant(token: str, expires_at: float) -> dict[str, Any]:
    oauth = {
        "refreshToken": "refresh",
        "clientId": "id",
        "tokenEndpoint": "http://127.0.0.1:9/token",
        "expiresAt": expires_at,
    }
    # A server elsewhere: one on this machine would be given the placeholder key.
    block = {"apiKey": token, "oauth": oauth, "baseUrl": "http://honcho.invalid"}
    return {"hosts": {"hermes": block}}


def dead_after_failed_swap(honcho: Honcho, _line: int) -> tuple[str, str]:
    """A token is renewed, and the client cannot take the new one: the SDK has changed its shape."""
    old, new = ("hch-at-old", "hch-at-new")
    honcho.write(**_grant(old, 4e9))
    honcho.current()
    honcho.write(**_grant(new, 4e9))
    if not honcho.ours:
        oauth = import_module("plugins.memory.honcho.oauth")
        patch.object(oauth, "ensure_fresh_token", return_value=(new, True)).start()
        patch.object(oauth, "apply_token_to_client", return_value=False).start()
    key = honcho.current()._http.api_key
    return "", f"the caller gets a client with the token {key!r}" if key != new else ""


def memo_beats_file(honcho: Honcho, _line: int) -> tuple[str, str]:
    """Another process renews the token on disk; this one resets and builds."""
    old, new = ("hch-at-old", "hch-at-new")
    honcho.write(**_grant(old, 4e9))
    honcho.get()
    honcho.write(**_grant(new, 4e9))
    honcho.reset()
    key = honcho.get()._http.api_key
    return "", f"the new client has the token {key!r}" if key != new else ""


Case = Callable[[Honcho, int], tuple[str, str]]
SCHEDULES: tuple[Case, ...] = (
    double_reset,
    stale_peek,
    timeout_beside_client,
    none_during_reset,
    config_before_lock,
)
SEQUENCES: tuple[Case, ...] = (memo_by_time_only, thrash, dead_after_failed_swap, memo_beats_file)
CASES: dict[str, Case] = {case.__name__: case for case in (*SCHEDULES, *SEQUENCES)}


def replay(name: str, module: str) -> str:
    """Return where and how the case goes wrong on the module, or nothing.

    The second thread comes at the first one's first line, then at its second, and so on until
    something goes wrong or the first thread has no more lines.
    """
    honcho = Honcho(module)
    case = CASES[name]
    for line in count(1):
        honcho.start_over()
        place, wrong = case(honcho, line)
        if wrong:
            return f"{place}: {wrong}" if place else wrong
        if not place:
            print(f"{line - 1} schedules")
            break
    return ""
