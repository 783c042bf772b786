"""`load_fal_client`: one import for all, through the host where there is one."""

import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import fal_client
import pytest

import plugin_utils.fal
from plugin_utils.fal import load_fal_client
from plugin_utils.testing import run_together
from tests.support.hermes import plant


@pytest.fixture(autouse=True)
def _forgotten() -> None:
    load_fal_client.reset()


def test_it_is_the_real_module() -> None:
    """The one that `import fal_client` gives, with its public classes."""
    module = load_fal_client()
    assert module is fal_client
    assert module is load_fal_client.peek()
    assert isinstance(module.SyncClient(key="k"), fal_client.SyncClient)


def test_the_package_is_the_release_under_test() -> None:
    """The one named by SDK_UNDER_TEST, or else the pinned one: a run on another proves nothing."""
    pins = (Path(__file__).parents[2] / "constraints.txt").read_text()
    found = re.search(r"fal[_-]client==(\S+)", os.environ.get("SDK_UNDER_TEST") or pins)
    assert found is not None
    assert version("fal-client") == found[1]


def test_importing_imports_nothing_else() -> None:
    """The module costs nothing before the first call."""
    code = (
        "import sys, plugin_utils.fal\n"
        "names = {name.partition('.')[0] for name in sys.modules}\n"
        "print(*sorted(names - sys.stdlib_module_names - {'plugin_utils', '__main__'}))"
    )
    root = Path(plugin_utils.fal.__file__).parents[1]
    found = subprocess.run(
        [sys.executable, "-S", "-c", code],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert found.stdout.split() == []


@pytest.mark.learned("imports-in-opposite-order")
def test_twenty_first_calls_import_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One call of the host's import; all threads get its module."""
    imports: list[ModuleType] = []

    def import_fal_client() -> ModuleType:
        imports.append(ModuleType("fal_client"))
        return imports[-1]

    plant(monkeypatch, "tools.fal_common", import_fal_client=import_fal_client)
    modules = run_together(20, load_fal_client)
    assert len(imports) == 1
    assert all(module is imports[0] for module in modules)


def test_the_host_installs_then_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hermes is asked first, in this order, and without a question to the user."""
    asked: list[object] = []
    module = ModuleType("fal_client")

    def ensure(feature: str, *, prompt: bool = True) -> None:
        asked.append((feature, prompt))

    def import_fal_client() -> ModuleType:
        asked.append("import")
        return module

    plant(monkeypatch, "tools.lazy_deps", ensure=ensure)
    plant(monkeypatch, "tools.fal_common", import_fal_client=import_fal_client)
    assert load_fal_client() is module
    assert load_fal_client() is module
    assert asked == [("image.fal", False), "import"]


def test_a_host_that_only_installs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What Hermes installs during the call is what the call imports."""
    monkeypatch.setitem(sys.modules, "fal_client", None)

    def ensure(_feature: str, *, prompt: bool) -> None:
        assert prompt is False
        monkeypatch.setitem(sys.modules, "fal_client", fal_client)

    plant(monkeypatch, "tools.lazy_deps", ensure=ensure)
    assert load_fal_client() is fal_client


@pytest.mark.parametrize("failure", [ImportError, RuntimeError])
def test_a_host_that_fails(failure: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    """The plain import decides."""

    def fail(*_: object, **__: object) -> None:
        raise failure

    plant(monkeypatch, "tools.lazy_deps", ensure=fail)
    plant(monkeypatch, "tools.fal_common", import_fal_client=fail)
    assert load_fal_client() is fal_client


@pytest.mark.learned("failure-taken-for-done")
def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the package and the command; once installed, the next call works."""
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "fal_client", None)
        with pytest.raises(ImportError, match=r"fal-client.*pip install fal-client") as caught:
            load_fal_client()
        assert isinstance(caught.value.__cause__, ImportError)
        assert load_fal_client.peek() is None
    assert load_fal_client() is fal_client


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import its_own_dependency", "No module named 'its_own_dependency'"),
        ("from fal_client._a_part import anything", r"No module named 'fal_client\._a_part'"),
        ("from os import nothing_like_it", "cannot import name 'nothing_like_it'"),
        ("raise ImportError('built for another machine')", "built for another machine"),
    ],
)
def test_with_a_broken_package(
    code: str, error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own error comes out, not the advice to install what is installed; nothing is cached."""
    (tmp_path / "fal_client.py").write_text(code)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "path", [str(tmp_path), *sys.path])
        patch.delitem(sys.modules, "fal_client")
        with pytest.raises(ImportError, match=f"^{error}"):
            load_fal_client()
        assert load_fal_client.peek() is None
    assert load_fal_client() is fal_client


def test_a_reset_forgets_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that swaps the module sees its own after a reset."""
    assert load_fal_client() is fal_client
    swapped: Any = ModuleType("fal_client")
    monkeypatch.setitem(sys.modules, "fal_client", swapped)
    assert load_fal_client() is fal_client
    assert load_fal_client.reset() is True
    assert load_fal_client() is swapped
