"""The test that the page tells readers to write."""

import pytest

from plugin_utils import lazy_singleton
from plugin_utils.testing import CountingFactory
from snippets.racy import test_your_accessor as racy


def test_it_passes_for_a_right_accessor(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails for the racy accessor is the accessor, not the test."""
    connect = CountingFactory(object, held=True)
    monkeypatch.setattr(racy, "connect", connect)
    monkeypatch.setattr(racy, "get_client", lazy_singleton(connect))
    racy.test_two_first_callers_build_once()


def test_one_caller_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The racy accessor looks right as long as nobody else calls."""
    monkeypatch.setattr(racy, "connect", CountingFactory(object))
    monkeypatch.setattr(racy, "_client", None)
    assert racy.get_client() is racy.get_client()
