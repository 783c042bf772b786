"""`on_failure="share"`: those who waited get the builder's error, later callers try again."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from plugin_utils import SingletonSlot
from plugin_utils.testing import run_together
from tests.support.waiting import wait_until, waiters_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

WAITERS = 19


class FailsOnceAllWait:
    """A factory whose first run fails when all other callers wait for it."""

    def __init__(self, slot: SingletonSlot[object], error: BaseException | None = None) -> None:
        self.slot = slot
        self.error = error
        self.runs = 0

    def __call__(self) -> object:
        """Fail; the first time, when the others have come."""
        self.runs += 1
        if self.runs == 1:
            wait_until(lambda: waiters_of(self.slot._gate) == WAITERS)
        raise self.error or OSError(f"down {self.runs}")


class TurnTakingError(OSError):
    """An error that the next thread raises when the one before has caught it.

    Threads that raise one exception at the same moment write their frames into one traceback. Here
    they must not, so that the length of each can be told.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.raised = 1
        self.caught = 0

    def with_traceback(self, tb: TracebackType | None) -> Self:
        """Wait for your turn; called by the slot when it raises the error once more."""
        wait_until(lambda: self.caught == self.raised)
        self.raised += 1
        return super().with_traceback(tb)


def _errors(slot: SingletonSlot[object], factory: FailsOnceAllWait) -> list[BaseException]:
    def call() -> BaseException:
        try:
            slot.get(factory)
        except (OSError, KeyboardInterrupt) as error:
            return error
        raise AssertionError

    return run_together(WAITERS + 1, call)


def _context_of(call: Callable[[], object]) -> BaseException | None:
    with pytest.raises(OSError, match="down") as caught:
        call()
    return caught.value.__context__


@pytest.mark.promise(2)
def test_waiters_retry_one_at_a_time_by_default() -> None:
    """Each waiter runs its own factory and sees its own error."""
    slot: SingletonSlot[object] = SingletonSlot()
    factory = FailsOnceAllWait(slot)
    errors = _errors(slot, factory)
    assert factory.runs == WAITERS + 1
    assert len({str(error) for error in errors}) == WAITERS + 1


@pytest.mark.learned("every-call-pays-for-the-failure")
def test_waiters_share_the_failure_when_asked() -> None:
    """One failing build answers 20 callers: the convoy costs one time-out, not twenty."""
    slot: SingletonSlot[object] = SingletonSlot(on_failure="share")
    factory = FailsOnceAllWait(slot)
    errors = _errors(slot, factory)
    assert factory.runs == 1
    assert len({id(error) for error in errors}) == 1


def test_later_caller_tries_again() -> None:
    """A shared failure is not remembered: whoever comes after it builds."""
    slot: SingletonSlot[object] = SingletonSlot(on_failure="share")
    _errors(slot, FailsOnceAllWait(slot))
    assert slot.get(lambda: "up") == "up"


def test_shared_traceback_reaches_the_factory_and_does_not_grow() -> None:
    """Each waiter's traceback is its own way in, and then the factory's line."""
    slot: SingletonSlot[object] = SingletonSlot(on_failure="share")
    error = TurnTakingError("down")
    factory = FailsOnceAllWait(slot, error)

    def call() -> list[str]:
        try:
            slot.get(factory)
        except TurnTakingError:
            lines = [str(frame.line) for frame in traceback.extract_tb(error.__traceback__)]
            error.caught += 1
            return lines
        raise AssertionError

    ways = run_together(WAITERS + 1, call)
    assert {lines[0] for lines in ways} == {"slot.get(factory)"}
    assert {lines[-1] for lines in ways} == {'raise self.error or OSError(f"down {self.runs}")'}
    # The builder's way is one line shorter: it raised in `_build` once, not once more.
    builder, *waiters = sorted(map(len, ways))
    assert waiters == [builder + 1] * WAITERS


def test_shared_error_keeps_its_own_cause() -> None:
    """What a waiter is handling while it calls does not become the context of all others' error."""
    slot: SingletonSlot[object] = SingletonSlot(on_failure="share")
    cause = KeyError("host")

    def fail() -> object:
        wait_until(lambda: waiters_of(slot._gate) == 1)
        try:
            raise cause
        except KeyError:
            raise OSError("down") from None

    def call() -> BaseException | None:
        try:
            int("a request of this thread")
        except ValueError:
            return _context_of(lambda: slot.get(fail))
        raise AssertionError

    assert run_together(2, call) == [cause, cause]


@dataclass(frozen=True)
class FrozenError(Exception):
    """An error that cannot be assigned to."""

    code: int


def test_error_that_cannot_be_assigned_to_is_shared() -> None:
    """It reaches those who waited as it is."""
    slot: SingletonSlot[object] = SingletonSlot(on_failure="share")
    error = FrozenError(5)

    def fail() -> object:
        wait_until(lambda: waiters_of(slot._gate) == 1)
        raise error

    def call() -> BaseException:
        with pytest.raises(FrozenError) as caught:
            slot.get(fail)
        return caught.value

    assert run_together(2, call) == [error, error]


def test_interrupt_is_not_shared() -> None:
    """A KeyboardInterrupt of the builder is nobody else's: the waiters try on their own."""
    slot: SingletonSlot[object] = SingletonSlot(on_failure="share")
    factory = FailsOnceAllWait(slot, KeyboardInterrupt())
    _errors(slot, factory)
    assert factory.runs == WAITERS + 1
