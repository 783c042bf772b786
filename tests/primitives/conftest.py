"""Fixtures for the tests of the primitives."""

import pytest

from tests.primitives.faces import FACES, Make


@pytest.fixture(params=sorted(FACES))
def kind(request: pytest.FixtureRequest) -> str:
    """Return which of the two the test is about: for tests that run in a child process."""
    return str(request.param)


@pytest.fixture
def make(kind: str) -> Make:
    """Return what makes an accessor or a slot."""
    return FACES[kind]
