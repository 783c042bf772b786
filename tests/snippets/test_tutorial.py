"""The tutorial's plugin: the page shows its very files, and it does what the page says."""

import json
import sqlite3
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import Barrier, Thread
from types import ModuleType

import pytest
import yaml

from plugin_utils.docs_testing._pages import Site
from tests.docs.tables import ROOT

PLUGIN = ROOT / "snippets/tutorial/notes"
THREADS = 32


class Host:
    """What a plugin is given to register its tools with."""

    def __init__(self) -> None:
        self.tools: dict[str, tuple[str, dict[str, object]]] = {}
        self.handlers: dict[str, object] = {}

    def register_tool(
        self, name: str, toolset: str, schema: dict[str, object], handler: object
    ) -> None:
        """Note a tool."""
        self.tools[name] = (toolset, schema)
        self.handlers[name] = handler


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Load the plugin as the host does: from its path, under a name of the host's."""
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "hermes"))
    spec = spec_from_file_location("hermes_plugins.notes", PLUGIN / "__init__.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    yield module
    module.note_store.reset()


@pytest.mark.parametrize("name", ["plugin.yaml", "__init__.py"])
def test_the_page_shows_the_files(name: str) -> None:
    """The block with a file's name as its title is that file."""
    page = Site(ROOT / "mkdocs.yml").read(ROOT / "docs/tutorial/first-singleton.md")
    shown = [fence.source.rstrip("\n") for fence in page.fences if fence.title == name]
    assert shown == [(PLUGIN / name).read_text("utf-8").rstrip("\n")]


def test_the_manifest_names_the_registered_tools(notes: ModuleType) -> None:
    """The tools of the manifest are registered, each under the name in its schema."""
    manifest = yaml.safe_load((PLUGIN / "plugin.yaml").read_text("utf-8"))
    host = Host()
    notes.register(host)
    assert list(host.tools) == manifest["provides_tools"]
    for name, (toolset, schema) in host.tools.items():
        assert (toolset, schema["name"]) == ("notes", name)
    assert manifest["kind"] == "standalone"


def test_loading_opens_nothing(notes: ModuleType, tmp_path: Path) -> None:
    """Neither the import nor `register` makes the store or its folder."""
    notes.register(Host())
    assert notes.note_store.peek() is None
    assert not list(tmp_path.iterdir())


def test_one_connection_for_all_threads(
    notes: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads that make their first tool call together share one connection, and lose no note."""
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def counting_connect(
        path: Path, *, check_same_thread: bool, isolation_level: None
    ) -> sqlite3.Connection:
        opened.append(
            connect(path, check_same_thread=check_same_thread, isolation_level=isolation_level)
        )
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", counting_connect)
    start = Barrier(THREADS)
    answers: list[str] = []

    def call(number: int) -> None:
        start.wait(10)
        answers.append(notes.add_note({"text": f"Note {number}"}, task_id="t"))

    threads = [Thread(target=call, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(opened) == 1
    assert len(answers) == THREADS
    found = json.loads(notes.find_notes({"word": "nOTE"}, task_id="t"))["notes"]
    assert sorted(found) == sorted(f"Note {number}" for number in range(THREADS))
    assert json.loads(notes.find_notes({"word": "%"}, task_id="t")) == {"notes": []}
    assert (tmp_path / "hermes/notes.db").is_file()


def test_reset_closes_the_connection(notes: ModuleType) -> None:
    """After a reset the old store is closed, and the next call opens a new one."""
    store = notes.note_store()
    assert notes.note_store.reset()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        store.add("too late")
    notes.add_note({"text": "in time"})
