"""One field, read once: a reset in between leaves the reader with a whole client."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event, current_thread, main_thread
from typing import ClassVar

from plugin_utils import SingletonSlot


class Client:
    """Stands for an SDK client."""


class Slot:
    """The slot of this library, with the pause of the racy one after its only read."""

    tested: ClassVar[Event] = Event()
    emptied: ClassVar[Event] = Event()

    def __init__(self) -> None:
        self._slot: SingletonSlot[Client] = SingletonSlot(name="client")

    def get(self) -> Client:
        """Return the client, built on the first call."""
        client = self._slot.get(Client)
        self.pause()
        return client

    def reset(self) -> None:
        """Drop the client."""
        self._slot.reset()

    def pause(self) -> None:
        """Let the other thread stop where it would be bad for a slot of two fields."""
        if current_thread() is not main_thread():
            self.tested.set()
            self.emptied.wait(timeout=10)


slot = Slot()

if __name__ == "__main__":
    old = slot.get()
    with ThreadPoolExecutor(1) as other:
        reading = other.submit(slot.get)
        assert Slot.tested.wait(timeout=10)
        slot.reset()
        Slot.emptied.set()
    assert reading.result() is old
    assert slot.get() is not old
