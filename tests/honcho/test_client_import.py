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
from tests.support import child
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
    public = {name for name in vars(plugin_utils.honcho) if name[0].isalpha()}
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


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import its_own_dependency", "No module named 'its_own_dependency'"),
        ("from honcho._a_part import anything", r"No module named 'honcho\._a_part'"),
        ("from os import nothing_like_it", "cannot import name 'nothing_like_it'"),
        ("raise ImportError('built for another machine')", "built for another machine"),
        ("# another package of this name", "cannot import name 'Honcho' from 'honcho'"),
    ],
)
def test_with_a_broken_sdk(
    code: str, error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own error comes out, not the advice to install what is installed; nothing is cached."""
    (tmp_path / "honcho.py").write_text(code)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "path", [str(tmp_path), *sys.path])
        patch.delitem(sys.modules, "honcho")
        with pytest.raises(ImportError, match=f"^{error}"):
            get_honcho_client(CONFIG)
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


def _first_calls_of_both_clients() -> None:
    from collections.abc import Callable, Iterator
    from itertools import cycle

    from plugin_utils import _hermes
    from plugin_utils.fal import load_fal_client
    from plugin_utils.honcho import HonchoClientConfig, get_honcho_client
    from plugin_utils.testing import run_together

    asked: list[str] = []

    def install(feature: str) -> None:  # the first thing in either build, before it imports
        asked.append(feature)

    _hermes.install = install
    config = HonchoClientConfig(api_key="k")
    accessors: Iterator[Callable[[], object]]
    accessors = cycle([load_fal_client, lambda: get_honcho_client(config)])

    def call() -> object:
        return next(accessors)()

    found = run_together(8, call, timeout=20)
    assert len(set(map(id, found))) == 2
    assert sorted(asked) == ["image.fal", "memory.honcho"]


@pytest.mark.learned("imports-in-opposite-order")
def test_first_calls_of_both_clients_import_side_by_side() -> None:
    """Eight threads of a fresh process: one imports each package, and these share some imports."""
    child.run(_first_calls_of_both_clients, limit=25)


def _imports_of_the_packages() -> None:
    import sys

    import fal_client
    import honcho
    import httpx

    assert all((fal_client, honcho, httpx))
    print(*(name for name in sys.modules if name.startswith("plugin_utils")))


@pytest.mark.learned("import-under-a-lock")
def test_the_packages_do_not_know_this_library() -> None:
    """What is imported inside a build cannot come back for it."""
    assert child.run(_imports_of_the_packages, limit=20).output == "\n"


def _finaliser_logs_during_a_log_call() -> None:
    import gc
    import logging

    from plugin_utils import RecursiveBuildError
    from plugin_utils.honcho import HonchoClientConfig, get_honcho_client, reset_honcho_client

    log = logging.getLogger("plugin_utils")
    seen: list[object] = []

    class Garbage:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            log.warning("gone")
            try:
                seen.append(get_honcho_client())
            except RecursiveBuildError:
                seen.append("refused")

    class Collecting(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.levelno == logging.INFO:  # the library's "built"
                Garbage()
                gc.collect()

    log.setLevel(logging.INFO)
    log.addHandler(Collecting())
    client = get_honcho_client(HonchoClientConfig(api_key="k"))
    assert seen == ["refused"], seen
    assert get_honcho_client() is client
    reset_honcho_client()


@pytest.mark.learned("finaliser-that-logs")
def test_a_finaliser_may_log_and_come_back_during_a_log_call() -> None:
    """It is refused while the build that is logged goes on, and nobody hangs."""
    child.run(_finaliser_logs_during_a_log_call, limit=20)
