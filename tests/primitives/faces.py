"""The accessor and the slot through what they have in common, so that one test serves both."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar

from plugin_utils import SingletonSlot, lazy_singleton
from tests.support.waiting import wait_until, waiters_of

if TYPE_CHECKING:
    from plugin_utils._tenure import Lease

__all__ = ("FACES", "Face", "Make", "slot_of")

T = TypeVar("T")


class Face(Generic[T]):
    """An accessor or a slot, and the factory that it is used with."""

    def __init__(
        self,
        slot: SingletonSlot[T],
        get: Callable[[], T],
        lease: Callable[[], Lease[T]],
    ) -> None:
        self.slot = slot
        self.get = get
        self.lease = lease
        self.peek = slot.peek
        self.reset = slot.reset

    def wait_for_waiters(self, count: int) -> None:
        """Return as soon as this many threads wait for the build, or for another reset."""
        wait_until(lambda: waiters_of(self.slot._gate) >= count)

    def __repr__(self) -> str:
        return repr(self.slot)


class Make(Protocol):
    """Makes a face of one kind."""

    def __call__(
        self,
        factory: Callable[[], T],
        /,
        *,
        close: Callable[[T], object] | None = None,
        fork: Literal["rebuild", "keep"] = "rebuild",
        on_failure: Literal["retry", "share"] = "retry",
    ) -> Face[T]:
        """Make an accessor or a slot."""
        ...


def _accessor(
    factory: Callable[[], T],
    /,
    *,
    close: Callable[[T], object] | None = None,
    fork: Literal["rebuild", "keep"] = "rebuild",
    on_failure: Literal["retry", "share"] = "retry",
) -> Face[T]:
    accessor = lazy_singleton(close=close, fork=fork, on_failure=on_failure)(factory)
    return Face(slot_of(accessor), accessor, accessor.lease)


def _slot(
    factory: Callable[[], T],
    /,
    *,
    close: Callable[[T], object] | None = None,
    fork: Literal["rebuild", "keep"] = "rebuild",
    on_failure: Literal["retry", "share"] = "retry",
) -> Face[T]:
    slot: SingletonSlot[T] = SingletonSlot(close=close, fork=fork, on_failure=on_failure)
    return Face(slot, lambda: slot.get(factory), lambda: slot.lease(factory))


def slot_of(accessor: object) -> SingletonSlot[T]:
    """Return the slot behind an accessor."""
    peek = getattr(accessor, "peek")  # noqa: B009 - a bound method of the slot
    slot: SingletonSlot[T] = peek.__self__
    return slot


FACES: dict[str, Make] = {"accessor": _accessor, "slot": _slot}
