"""The pytest fixture `reset_singletons`. Only pytest imports this module, as a plugin."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from plugin_utils.testing._reset import reset_all

__all__ = ("reset_singletons",)


@pytest.fixture
def reset_singletons() -> Iterator[None]:
    """Drop every singleton's instance before the test, and again after it.

    Use it by name, or for a whole module with `pytestmark = pytest.mark.usefixtures(...)`.

    Example:
        ```python
        import pytest

        pytestmark = pytest.mark.usefixtures("reset_singletons")
        ```
    """
    reset_all()
    yield
    reset_all()
