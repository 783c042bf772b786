"""A reset between the two reads of a flag and its value: the caller gets None."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock, current_thread, main_thread
from typing import ClassVar


class Client:
    """Stands for an SDK client."""


class Slot:
    """Holds a client: a flag that says whether it is there, and the client."""

    tested: ClassVar[Event] = Event()
    emptied: ClassVar[Event] = Event()

    def __init__(self) -> None:
        self._lock = Lock()
        self._is_set = False
        self._client: Client | None = None

    def get(self) -> Client | None:
        """Return the client, built on the first call."""
        if self._is_set:
            self.pause()
            return self._client
        with self._lock:
            if not self._is_set:
                self._client = Client()
                self._is_set = True
            return self._client

    def reset(self) -> None:
        """Drop the client."""
        with self._lock:
            self._client = None
            self._is_set = False

    def pause(self) -> None:
        """Make the bad moment certain: the other thread stops between its two reads."""
        if current_thread() is not main_thread():
            self.tested.set()
            self.emptied.wait(timeout=10)


slot = Slot()

if __name__ == "__main__":
    slot.get()
    with ThreadPoolExecutor(1) as other:
        reading = other.submit(slot.get)
        assert Slot.tested.wait(timeout=10)
        slot.reset()
        Slot.emptied.set()
    assert reading.result() is not None, "get() returned None"
