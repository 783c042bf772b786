"""A home for Hermes with nothing in it but what a test installs."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from tests.hosts.model_server import ModelServer
from tests.support.child import ROOT

Install = Callable[..., Path]
NO_CHANGES: Mapping[str, str] = MappingProxyType({})


@pytest.fixture(scope="session")
def tutorial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plugin as the tutorial shows it, taken off the page."""
    folder = tmp_path_factory.mktemp("notes")
    guide_python = ROOT / ".venv" / "bin" / "python"
    command: list[str | Path] = [guide_python, "-m", "tests.hosts.tutorial", folder]
    subprocess.run(command, cwd=ROOT, check=True, timeout=60)
    return folder


@pytest.fixture
def hermes_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of a Hermes that has no plugins and installs nothing."""
    for name in [*os.environ]:
        if name.startswith(("HONCHO_", "HERMES_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    home = tmp_path / ".hermes"
    bundled = tmp_path / "bundled"
    for folder in (home, bundled):
        folder.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HERMES_HOME", str(home))
    monkeypatch.setenv("HERMES_BUNDLED_PLUGINS", str(bundled))
    monkeypatch.setenv("HERMES_DISABLE_LAZY_INSTALLS", "1")
    return home


@pytest.fixture
def install(tutorial: Path, hermes_home: Path) -> Install:
    """Installs the tutorial's plugin and enables it, with words of its code replaced."""

    def install(changes: Mapping[str, str] = NO_CHANGES) -> Path:
        folder = hermes_home / "plugins" / "notes"
        shutil.copytree(tutorial, folder)
        source = (folder / "__init__.py").read_text("utf-8")
        for old, new in changes.items():
            assert source.count(old) == 1
            source = source.replace(old, new)
        (folder / "__init__.py").write_text(source, "utf-8")
        (hermes_home / "config.yaml").write_text("plugins:\n  enabled: [notes]\n", "utf-8")
        return folder

    return install


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """A language model on this machine."""
    with ModelServer() as server:
        yield server
