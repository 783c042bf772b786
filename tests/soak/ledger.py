"""Connections that know what may be done with them, and the book of what went wrong."""

from __future__ import annotations

import socket
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock, RLock

__all__ = ("BuildFailedError", "Connection", "Ledger")


class BuildFailedError(Exception):
    """What a factory raises when the generator makes it fail."""


class Connection:
    """Two joined sockets: what goes in at one comes out at the other, until it is closed."""

    def __init__(self, label: object, ledger: Ledger) -> None:
        self.label = label
        self._ledger = ledger
        self._ends = socket.socketpair()
        self._lock = Lock()
        self._closed = 0
        ledger.count("built")

    @property
    def is_open(self) -> bool:
        """Whether it has not been closed."""
        return self._closed == 0

    def use(self) -> None:
        """Send a byte through. Only for whoever has a lease."""
        with self._lock:
            if self._closed:
                self._ledger.violation("closed during a lease")
                return
            there, here = self._ends
            there.send(b".")
            if here.recv(1) != b".":
                self._ledger.violation("a byte was lost")

    def __del__(self) -> None:
        """Let other threads in, as the end of a socket does, if nobody has closed it before."""
        if self.is_open:
            self._ledger.violation("dropped and not closed")
            self.close()
            time.sleep(0)

    def close(self) -> None:
        """Close both ends."""
        with self._lock:
            self._closed += 1
            if self._closed > 1:
                self._ledger.violation("closed twice")
            for end in self._ends:
                end.close()
        self._ledger.count("closed")


class Ledger:
    """Counts operations and violations, for all threads."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.violations: Counter[str] = Counter()
        self._building: Counter[object] = Counter()
        # Re-entrant: a connection's end can come here while its thread is in here. Free-threaded
        # builds end objects for other threads between any two steps.
        self._lock = RLock()

    def count(self, what: str, number: int = 1) -> None:
        """Add to a count."""
        with self._lock:
            self.counts[what] += number

    def violation(self, what: str) -> None:
        """Note that a promise was broken."""
        with self._lock:
            self.violations[what] += 1

    @contextmanager
    def building(self, label: object) -> Generator[None]:
        """Note that an instance with this label is being built: never two at a time."""
        with self._lock:
            self._building[label] += 1
            if self._building[label] > 1:
                self.violations["two builds at once"] += 1
        try:
            yield
        finally:
            with self._lock:
                self._building[label] -= 1
                if not self._building[label]:
                    del self._building[label]

    def check(self, found: object, label: object) -> None:
        """Check that a caller has got a whole instance, and that it is the one asked for."""
        if not isinstance(found, Connection):
            self.violation(f"a caller has got {type(found).__name__}")
        elif found.label != label:
            self.violation("a caller has got another one's instance")
