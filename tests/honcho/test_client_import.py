"""The SDK is imported inside the build only, and the host is asked to install it first."""

import subprocess
import sys
from pathlib import Path

import honcho
import pytest

import plugin_utils.honcho
from plugin_utils import RecursiveBuildError
from plugin_utils.honcho import HonchoClientConfig, get_honcho_client, reset_honcho_client
from plugin_utils.honcho.client import _honcho_client_slot
from tests.support.hermes import plant

CONFIG = HonchoClientConfig(api_key="k")


def test_nothing_is_imported_before_a_build() -> None:
    """Only the standard library: after the import, and after a call that is refused."""
    code = """
import sys, plugin_utils.honcho
try:
    plugin_utils.honcho.get_honcho_client()
except ValueError:
    names = {name.partition(".")[0] for name in sys.modules}
    print("refused", *sorted(names - sys.stdlib_module_names - {"plugin_utils", "__main__"}))
"""
    root = Path(plugin_utils.honcho.__file__).parents[2]
    found = subprocess.run(
        [sys.executable, "-S", "-c", code],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert found.stdout.split() == ["refused"]


def test_what_the_package_offers() -> None:
    """Its names are listed, and all there."""
    assert isinstance(plugin_utils.honcho.__all__, tuple)
    public = {name for name in vars(plugin_utils.honcho) if not name.startswith("_")}
    assert public - {"client", "config"} == set(plugin_utils.honcho.__all__)


@pytest.mark.parametrize("missing", ["honcho", "httpx"])
def test_without_the_sdk(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the package and the command; once installed, the next call works."""
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, missing, None)
        with pytest.raises(ImportError, match=r"honcho-ai.*pip install honcho-ai") as caught:
            get_honcho_client(CONFIG)
        assert isinstance(caught.value.__cause__, ImportError)
        assert _honcho_client_slot.peek() is None
    assert isinstance(get_honcho_client(CONFIG), honcho.Honcho)


def test_the_host_installs_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """What Hermes installs during the build is what the build imports."""
    monkeypatch.setitem(sys.modules, "honcho", None)
    asked: list[tuple[object, ...]] = []

    def ensure(feature: str, *, prompt: bool = True) -> None:
        asked.append((feature, prompt))
        monkeypatch.setitem(sys.modules, "honcho", honcho)

    plant(monkeypatch, "tools.lazy_deps", ensure=ensure)
    first = get_honcho_client(CONFIG)
    assert get_honcho_client() is first
    assert asked == [("memory.honcho", False)]


FAILURES = [
    ImportError("no wheel"),
    ModuleNotFoundError("No module named 'pip'"),
    RuntimeError("installing is switched off"),
    TypeError("ensure() got an unexpected keyword argument 'prompt'"),
]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
def test_a_host_that_cannot_install(failure: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plain import decides: it finds the SDK, or the usual error comes out."""

    def ensure(*_: object, **__: object) -> None:
        raise failure

    plant(monkeypatch, "tools.lazy_deps", ensure=ensure)
    assert isinstance(get_honcho_client(CONFIG), honcho.Honcho)
    reset_honcho_client()
    monkeypatch.setitem(sys.modules, "honcho", None)
    with pytest.raises(ImportError, match="pip install honcho-ai"):
        get_honcho_client(CONFIG)


def test_a_host_without_an_installer(monkeypatch: pytest.MonkeyPatch) -> None:
    """An older or newer Hermes may have no such function."""
    plant(monkeypatch, "tools.lazy_deps")
    assert isinstance(get_honcho_client(CONFIG), honcho.Honcho)


def test_an_installer_that_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets an error instead of a second build, and the first one goes on."""
    refused: list[type[Exception]] = []

    def ensure(*_: object, **__: object) -> None:
        try:
            get_honcho_client(CONFIG)
        except RecursiveBuildError as error:
            refused.append(type(error))

    plant(monkeypatch, "tools.lazy_deps", ensure=ensure)
    assert isinstance(get_honcho_client(CONFIG), honcho.Honcho)
    assert refused == [RecursiveBuildError]
