"""Fixtures for the tests of the primitives."""

import pytest

from plugin_utils.testing.pytest_plugin import reset_singletons
from tests.primitives.faces import FACES, Make

# Installed, the plugin brings this fixture by itself; the tests also run where it is not.
__all__ = ("kind", "make", "reset_singletons")


@pytest.fixture(params=sorted(FACES))
def kind(request: pytest.FixtureRequest) -> str:
    """Return which of the two the test is about: for tests that run in a child process."""
    return str(request.param)


@pytest.fixture
def make(kind: str) -> Make:
    """Return what makes an accessor or a slot."""
    return FACES[kind]
