"""Singleton designs as people write them, wrong and right: what the explorer must tell apart.

They use nothing of the library. Each has `get`, and most have `peek` and `reset`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

__all__ = ("RIGHT", "WRONG", "Design", "Value")

UNSET = object()


class Value:
    """What the factories build."""


Factory = Callable[[], Value]


class Design:
    """Right: one field, read once, tested again under the lock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.field: object = UNSET

    def get(self, factory: Factory) -> object:
        """Return the instance, built if there is none."""
        found = self.field
        if found is not UNSET:
            return found
        with self.lock:
            found = self.field
            if found is UNSET:
                found = factory()
                self.field = found
            return found

    def peek(self) -> object:
        """Return the instance, or None."""
        found = self.field
        return None if found is UNSET else found

    def reset(self) -> None:
        """Drop the instance."""
        with self.lock:
            self.field = UNSET


class NoLock(Design):
    """Wrong: two first callers both find the field empty."""

    def get(self, factory: Factory) -> object:
        """Return the instance, built if there is none."""
        found = self.field
        if found is UNSET:
            found = factory()
            self.field = found
        return found


class NoSecondTest(Design):
    """Wrong: who waited for the lock builds again."""

    def get(self, factory: Factory) -> object:
        """Return the instance, built if there is none."""
        found = self.field
        if found is not UNSET:
            return found
        with self.lock:
            found = factory()
            self.field = found
            return found


class TwoReads(Design):
    """Wrong: a reset can come between the test and the second read."""

    def get(self, factory: Factory) -> object:
        """Return the instance, built if there is none."""
        if self.field is not UNSET:
            return self.field
        with self.lock:
            if self.field is UNSET:
                self.field = factory()
            return self.field


class TwoReadsInPeek(Design):
    """Wrong: the same, in `peek`."""

    def peek(self) -> object:
        """Return the instance, or None."""
        return None if self.field is UNSET else self.field


class ReadAfterTheLock(Design):
    """Wrong: a reset can come between the release and the read."""

    def get(self, factory: Factory) -> object:
        """Return the instance, built if there is none."""
        with self.lock:
            if self.field is UNSET:
                self.field = factory()
        return self.field


class FlagFirst(Design):
    """Wrong: the flag says "built" before there is anything."""

    def __init__(self) -> None:
        super().__init__()
        self.built = False

    def get(self, factory: Factory) -> object:
        """Return the instance, built if there is none."""
        if self.built:
            return self.field
        with self.lock:
            if not self.built:
                self.built = True
                self.field = factory()
            return self.field


class FlagAndField(Design):
    """Wrong: the flag is set last, but reset still changes two things."""

    def __init__(self) -> None:
        super().__init__()
        self.field = None
        self.built = False

    def get(self, factory: Factory) -> object:
        """Return the instance, built if there is none."""
        if self.built:
            return self.field
        with self.lock:
            if not self.built:
                self.field = factory()
                self.built = True
            return self.field

    def reset(self) -> None:
        """Drop the instance."""
        with self.lock:
            self.field = None
            self.built = False


class Box(Design):
    """Wrong: the list is tested, then indexed."""

    def __init__(self) -> None:
        super().__init__()
        self.box: list[object] = []

    def get(self, factory: Factory) -> object:
        """Return the instance, built if there is none."""
        if self.box:
            return self.box[0]
        with self.lock:
            if not self.box:
                self.box.append(factory())
            return self.box[0]

    def reset(self) -> None:
        """Drop the instance."""
        with self.lock:
            self.box.clear()


class DictTested(Design):
    """Wrong: `in`, then a second look."""

    def __init__(self) -> None:
        super().__init__()
        self.table: dict[str, object] = {}

    def get(self, factory: Factory) -> object:
        """Return the instance, built if there is none."""
        if "client" in self.table:
            return self.table["client"]
        with self.lock:
            if "client" not in self.table:
                self.table["client"] = factory()
            return self.table["client"]

    def reset(self) -> None:
        """Drop the instance."""
        with self.lock:
            self.table.pop("client", None)


class DictTried(DictTested):
    """Right: one look that either finds or raises."""

    def get(self, factory: Factory) -> object:
        """Return the instance, built if there is none."""
        try:
            return self.table["client"]
        except KeyError:
            pass
        with self.lock:
            try:
                return self.table["client"]
            except KeyError:
                found = self.table["client"] = factory()
                return found


class LazyLock(Design):
    """Wrong: two first callers can make a lock each."""

    def __init__(self) -> None:
        super().__init__()
        self.late_lock: Any = None

    def get(self, factory: Factory) -> object:
        """Return the instance, built if there is none."""
        found = self.field
        if found is not UNSET:
            return found
        if self.late_lock is None:
            self.late_lock = threading.Lock()
        with self.late_lock:
            found = self.field
            if found is UNSET:
                found = factory()
                self.field = found
            return found


class TwoLocks(Design):
    """Wrong: `get` and `reset` take two locks in opposite orders, and can wait for each other."""

    def __init__(self) -> None:
        super().__init__()
        self.other = threading.Lock()

    def get(self, factory: Factory) -> object:
        """Return the instance, built if there is none."""
        with self.lock, self.other:
            if self.field is UNSET:
                self.field = factory()
            return self.field

    def reset(self) -> None:
        """Drop the instance."""
        with self.other, self.lock:
            self.field = UNSET


class Elected(Design):
    """Wrong: who builds is decided by a flag that two can find unset."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = False
        self.ready = threading.Event()

    def get(self, factory: Factory) -> object:
        """Return the instance, built if there is none."""
        if self.begun:
            self.ready.wait()
        else:
            self.begun = True
            self.field = factory()
            self.ready.set()
        return self.field


class ElectedUnderLock(Elected):
    """Right: the flag is tested and set under a lock."""

    def get(self, factory: Factory) -> object:
        """Return the instance, built if there is none."""
        with self.lock:
            mine = not self.begun
            self.begun = True
        if mine:
            self.field = factory()
            self.ready.set()
        else:
            self.ready.wait()
        return self.field


# The design, what its threads do, whether it is built before they start, and how often a thread
# must be made to wait until it fails.
WRONG: list[tuple[type[Design], str, bool, int]] = [
    (NoLock, "get get", False, 1),
    (NoSecondTest, "get get", False, 1),
    (TwoReads, "get reset", True, 1),
    (TwoReadsInPeek, "peek reset", True, 1),
    (ReadAfterTheLock, "get reset", False, 1),
    (FlagFirst, "get get", False, 1),
    (FlagAndField, "get reset", True, 1),
    (Box, "get reset", True, 1),
    (DictTested, "get reset", True, 1),
    (LazyLock, "get get", False, 2),
    (TwoLocks, "get reset", False, 1),
    (Elected, "get get", False, 1),
]
# The design, what its threads do, whether it is built before, and how many kinds of schedule it
# has. The first few can be counted by hand.
RIGHT: list[tuple[type[Design], str, bool, int]] = [
    (Design, "get get", False, 4),
    (Design, "get reset", True, 2),
    (Design, "get peek reset", True, 5),
    (Design, "get get reset", False, 20),
    (Design, "get get get", False, 15),
    (DictTried, "get get", False, 4),
    (DictTried, "get reset", True, 2),
    (DictTried, "get get reset", False, 20),
    (ElectedUnderLock, "get get", False, 10),
]
