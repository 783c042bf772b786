"""A slot in the object: one daemon for each provider, and none that is forgotten."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

from plugin_utils import SingletonSlot


class Daemon:
    """Stands for a server process that a provider starts for itself."""

    started: ClassVar[list[Daemon]] = []

    def __init__(self) -> None:
        self.is_running = True
        self.started.append(self)

    def stop(self) -> None:
        """End the process."""
        self.is_running = False


class Provider:
    """Has a daemon of its own, started on first use by its writer or its prefetch thread."""

    def __init__(self) -> None:
        self._daemon_slot: SingletonSlot[Daemon] = SingletonSlot(close=Daemon.stop, name="daemon")

    def daemon(self) -> Daemon:
        """Return this provider's daemon, started on the first call."""
        return self._daemon_slot.get(Daemon)

    def shut_down(self) -> None:
        """Stop what this provider has started, if it has."""
        self._daemon_slot.reset()


if __name__ == "__main__":
    provider, other = Provider(), Provider()
    with ThreadPoolExecutor(2) as threads:
        calls = [threads.submit(provider.daemon) for _ in ("writer", "prefetch")]
    assert {call.result() for call in calls} == {provider.daemon()}
    assert other.daemon() is not provider.daemon()
    provider.shut_down()
    assert [daemon for daemon in Daemon.started if daemon.is_running] == [other.daemon()]
