"""The loader of an optional SDK."""

import sys
from pathlib import Path

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


def test_a_broken_package_gives_its_own_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the package lacks is named, and not the package."""
    optional_sdk.load_sdk.reset()
    (tmp_path / "fal_client.py").write_text("import its_own_dependency")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "fal_client")
    with pytest.raises(ModuleNotFoundError, match="its_own_dependency") as caught:
        optional_sdk.load_sdk()
    assert caught.value.name == "its_own_dependency"
