"""The slot with a flag beside its value works, as long as nobody resets at the bad moment."""

from snippets.racy.torn_reset import Slot


def test_one_client_until_a_reset() -> None:
    """A hit gives the same client, and a reset leads to a new one."""
    slot = Slot()
    first = slot.get()
    assert slot.get() is first
    slot.reset()
    assert slot.get() is not first


def test_client_that_came_while_waiting_is_taken() -> None:
    """Who gets the lock second finds the client built: the second test is there."""
    slot = Slot()

    class BuiltMeanwhile:
        def __enter__(self) -> None:
            slot._client, slot._is_set = other.get(), True

        def __exit__(self, *_: object) -> None:
            """Release nothing."""

    other = Slot()
    vars(slot)["_lock"] = BuiltMeanwhile()
    assert slot.get() is other.get()
