"""Two threads of one provider start a daemon each, and one is never stopped."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import ClassVar


class Daemon:
    """Stands for a server process that a provider starts for itself."""

    started: ClassVar[list[Daemon]] = []
    starting: ClassVar[Barrier] = Barrier(2)

    def __init__(self) -> None:
        self.is_running = True
        self.starting.wait(timeout=10)  # as slow as a process: until both threads are here
        self.started.append(self)

    def stop(self) -> None:
        """End the process."""
        self.is_running = False


class Provider:
    """Has a daemon of its own, started on first use by its writer or its prefetch thread."""

    def __init__(self) -> None:
        self._daemon: Daemon | None = None

    def daemon(self) -> Daemon:
        """Return this provider's daemon, started on the first call."""
        if self._daemon is None:
            self._daemon = Daemon()
        return self._daemon

    def shut_down(self) -> None:
        """Stop what this provider has started."""
        self.daemon().stop()


if __name__ == "__main__":
    provider = Provider()
    with ThreadPoolExecutor(2) as threads:
        calls = [threads.submit(provider.daemon) for _ in ("writer", "prefetch")]
    assert all(call.result().is_running for call in calls)
    provider.shut_down()
    left = [daemon for daemon in Daemon.started if daemon.is_running]
    assert not left, f"{len(left)} daemon runs on, and nobody knows it"
