"""The factory that backs off."""

import pytest

from plugin_utils import SingletonSlot
from snippets.fixed.failing_build_convoy import BackOff


class Server:
    """Is down at first, and counts who calls."""

    def __init__(self) -> None:
        self.is_up = False
        self.calls = 0
        self.now = 0.0

    def connect(self) -> str:
        """Return a client, or fail."""
        self.calls += 1
        if not self.is_up:
            raise ConnectionError(self.calls)
        return "client"


@pytest.mark.learned("every-call-pays-for-the-failure")
def test_it_fails_at_once_until_the_pause_is_over() -> None:
    """Callers within the pause get the same failure; the first one after it tries again."""
    server = Server()
    slot: SingletonSlot[str] = SingletonSlot(name="client")
    factory = BackOff(server.connect, pause=60, clock=lambda: server.now)
    for now, calls in ((0, 1), (59, 1), (60, 2), (119, 2)):
        server.now = now
        with pytest.raises(ConnectionError, match=str(calls)):
            slot.get(factory)
        assert server.calls == calls


def test_a_success_ends_the_failure() -> None:
    """After a success and a reset the next build starts at once."""
    server = Server()
    slot: SingletonSlot[str] = SingletonSlot(name="client")
    factory = BackOff(server.connect, pause=60, clock=lambda: server.now)
    with pytest.raises(ConnectionError):
        slot.get(factory)
    server.is_up, server.now = True, 60
    for calls in (2, 3):
        assert slot.get(factory) == "client"
        assert slot.reset()
        assert server.calls == calls
