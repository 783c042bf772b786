"""Resets that close."""

from types import ModuleType

import pytest

from snippets.fixed import close_on_reset as fixed
from snippets.racy import close_on_reset as racy


@pytest.mark.parametrize("module", [fixed, racy])
def test_an_instance_is_closed_once(module: ModuleType) -> None:
    """A second reset finds nothing to close; a new client is open."""
    module.Client.served.set()
    reset = module.get_client.reset if module is fixed else module.reset_client
    reset()
    client = module.get_client()
    assert client.is_open
    reset()
    reset()
    assert not client.is_open
    assert module.get_client() is not client
    reset()
