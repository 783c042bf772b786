"""The loader of an optional SDK."""

import sys

import pytest

from snippets.fixed import optional_sdk


def test_a_missing_package_is_named_and_looked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install, and the next call finds what was installed meanwhile."""
    optional_sdk.load_sdk.reset()
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "fal_client", None)
        with pytest.raises(ImportError, match="pip install fal-client"):
            optional_sdk.load_sdk()
    assert optional_sdk.load_sdk.peek() is None
    assert optional_sdk.load_sdk().__name__ == "fal_client"
