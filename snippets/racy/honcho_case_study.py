"""The Honcho client of Hermes Agent 0.19.0, reduced to its steps, under forced schedules."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

from plugin_utils import SingletonSlot

Config = dict[str, object]
settings: Config = {}  # stands for the user's file


class Client:
    """Stands for the SDK's client."""

    built: ClassVar[list[Client]] = []

    def __init__(self, config: Config) -> None:
        self.workspace = config["workspace"]
        self.is_open = True
        self.built.append(self)

    def close(self) -> None:
        """Close the connections."""
        self.is_open = False


visits: dict[str, Callable[[], object]] = {}


def let_in(place: str) -> None:
    """Run what a schedule has put at this place, in another thread, to its end."""
    visit = visits.pop(place, None)
    if visit:
        with ThreadPoolExecutor(1) as other:
            other.submit(visit).result(timeout=10)


_slot: SingletonSlot[Client] = SingletonSlot(name="client")
_timeout: object = None  # of the client in the slot


def get_client(config: Config | None = None) -> Client:
    """Return the client; build a new one if the timeout has changed."""
    global _timeout
    cached = _slot.peek()
    if cached is not None:
        changed = (config or settings)["timeout"] != _timeout
        let_in("compared")
        if not changed:
            return cached
        _slot.reset()
        _timeout = None
    config = config or dict(settings)
    let_in("config read")

    def build() -> Client:
        global _timeout
        _timeout = config["timeout"]
        return Client(config)

    return _slot.get(build)


def reset_client() -> None:
    """Drop the client."""
    global _timeout
    _slot.reset()
    let_in("slot emptied")
    _timeout = None


def one_change_makes_one_client() -> bool:
    """Two threads find that the timeout has changed."""
    get_client()
    settings["timeout"] = 300
    visits["compared"] = get_client
    get_client()
    return len(Client.built) == 2


def a_reset_outlives_a_slow_build() -> bool:
    """A first caller has read the settings; they change, with a reset; then it builds."""

    def change() -> None:
        settings["workspace"] = "new"
        reset_client()

    visits["config read"] = change
    get_client()
    return get_client().workspace == "new"


def a_new_client_stays() -> bool:
    """A reset has emptied the slot; another thread builds; then the reset goes on."""
    get_client()
    visits["slot emptied"] = get_client
    reset_client()
    newest = Client.built[-1]
    return get_client() is newest


def two_timeouts_make_two_clients() -> bool:
    """Two callers, each with a timeout of its own, take turns."""
    for _ in range(3):
        get_client({"workspace": "home", "timeout": 45})
        get_client({"workspace": "home", "timeout": 300})
    return len(Client.built) == 2


def a_dropped_client_is_closed() -> bool:
    """A reset drops a client that has connections."""
    client = get_client()
    reset_client()
    return not client.is_open


def holds(schedule: Callable[[], bool]) -> bool:
    """Run a schedule from a clean start."""
    reset_client()
    Client.built.clear()
    settings.update(workspace="old", timeout=45)
    return schedule()


SCHEDULES = (
    one_change_makes_one_client,
    a_reset_outlives_a_slow_build,
    a_new_client_stays,
    two_timeouts_make_two_clients,
    a_dropped_client_is_closed,
)

if __name__ == "__main__":
    broken = [schedule.__name__ for schedule in SCHEDULES if not holds(schedule)]
    assert not broken, f"{len(broken)} of {len(SCHEDULES)} do not hold: {', '.join(broken)}"
