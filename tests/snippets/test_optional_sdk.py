"""The loader of an optional SDK."""

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from snippets.fixed import optional_sdk

ROOT = Path(__file__).parents[2]


def test_a_missing_package_is_named_and_looked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install, and the next call finds what was installed meanwhile."""
    optional_sdk.load_sdk.reset()
    monkeypatch.setattr(optional_sdk, "ensure", list[str]().append)  # installs nothing
    with pytest.raises(ImportError, match="pip install some-sdk"):
        optional_sdk.load_sdk()
    assert optional_sdk.load_sdk.peek() is None
    monkeypatch.setitem(sys.modules, "some_sdk", ModuleType("some_sdk"))
    assert optional_sdk.load_sdk().__name__ == "some_sdk"


@pytest.mark.parametrize(("kind", "status"), [("fixed", 0), ("racy", 1)])
def test_no_package_is_needed(kind: str, status: int, tmp_path: Path) -> None:
    """The recipe for an SDK that may be missing runs where none is installed."""
    done = subprocess.run(
        [sys.executable, "-S", ROOT / "snippets" / kind / "optional_sdk.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert "ImportError" not in done.stderr
    assert "ModuleNotFoundError" not in done.stderr


def test_a_broken_package_gives_its_own_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the package lacks is named, and not the package."""
    optional_sdk.load_sdk.reset()
    monkeypatch.setattr(optional_sdk, "ensure", list[str]().append)  # installs nothing
    (tmp_path / "some_sdk.py").write_text("import its_own_dependency")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "some_sdk", raising=False)
    with pytest.raises(ModuleNotFoundError, match="its_own_dependency") as caught:
        optional_sdk.load_sdk()
    assert caught.value.name == "its_own_dependency"
