"""A test that finds the race of an accessor, each time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from plugin_utils.testing import CountingFactory

# In a test of your plugin: monkeypatch.setattr(plugin, "connect", CountingFactory(..., held=True))
connect = CountingFactory(object, held=True)

_client: object = None


def get_client() -> object:
    """Return the client, built on the first call."""
    global _client
    if _client is None:
        _client = connect()
    return _client


def test_two_first_callers_build_once() -> None:
    """The second caller does not build while the first is building."""
    with ThreadPoolExecutor(2) as threads:
        calls = [threads.submit(get_client) for _ in range(2)]
        connect.wait_started(1)
        try:
            with pytest.raises(TimeoutError):
                connect.wait_started(2, timeout=0.5)
        finally:
            connect.release(2)
    assert len({call.result() for call in calls}) == 1
    assert connect.calls == 1


if __name__ == "__main__":
    assert pytest.main(["-q", "-p", "no:cacheprovider", __file__]) == pytest.ExitCode.OK
