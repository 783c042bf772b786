"""The tutorial's plugin in a real Hermes Agent: found, registered, and called from many threads."""

import shutil
from pathlib import Path

import pytest

from tests.hosts.conftest import Install
from tests.hosts.model_server import ModelServer
from tests.support import child

# Seconds. Importing Hermes takes a few, on a loaded machine many.
LIMIT = 120.0


def racy(callers: int) -> dict[str, str]:
    """Return what turns the tutorial's plugin into the one it warns of."""
    return {
        "from plugin_utils import lazy_singleton": "from tests.hosts.racy import racy",
        "@lazy_singleton(close=NoteStore.close)": f"@racy({callers})",
    }


def _serve(builds: int) -> None:
    from plugin_utils.testing import run_together
    from tests.hosts import hermes

    opened = hermes.connections_opened("notes.db")
    plugin = hermes.discover()["notes"]
    assert plugin.enabled, plugin.error
    assert not opened, "registering has opened the store"
    answers = run_together(32, lambda: hermes.call("note_add", text="milk"), timeout=90)
    assert len(opened) == builds
    if builds == 1:
        assert answers == [{"saved": "milk"}] * 32
        assert hermes.files_open("notes.db") == 1
        assert hermes.call("note_find", word="MILK") == {"notes": ["milk"] * 32}
        assert plugin.module.note_store.reset() is True
        assert hermes.files_open("notes.db") == 0


def test_32_tool_calls_share_one_store(install: Install) -> None:
    """One connection, 32 notes, and nothing open after the reset."""
    install()
    child.run(_serve, 1, limit=LIMIT)


def test_32_tool_calls_build_32_stores_without_the_helper(install: Install) -> None:
    """The same plugin with the accessor most of us would write: 31 of them have no owner."""
    install(racy(32))
    child.run(_serve, 32, limit=LIMIT)


def _delegate(model_url: str, builds: int) -> None:
    from tests.hosts import hermes

    opened = hermes.connections_opened("notes.db")
    assert hermes.discover()["notes"].enabled
    goals = [f"errand {number}" for number in range(3)]
    results = hermes.delegate(hermes.agent(model_url), goals)
    assert [result["status"] for result in results] == ["completed"] * 3
    assert [step["tool"] for result in results for step in result["tool_trace"]] == ["note_add"] * 3
    assert len(opened) == builds
    assert sorted(hermes.call("note_find", word="errand")["notes"]) == goals


@pytest.mark.parametrize(("changes", "builds"), [({}, 1), (racy(3), 3)], ids=["fixed", "racy"])
def test_delegated_children(
    changes: dict[str, str], builds: int, install: Install, model: ModelServer
) -> None:
    """Three real child agents, each with a thread of its own, save a note at the same time."""
    install(changes)
    child.run(_delegate, model.url, builds, limit=LIMIT)
    assert sorted(model.told) == ["errand 0", "errand 1", "errand 2"]


def _reload(expected: int) -> None:
    from tests.hosts import hermes

    opened = hermes.connections_opened("notes.db")
    hermes.discover()
    hermes.call("note_add", text="milk")
    hermes.discover(again=True)
    hermes.call("note_add", text="bread")
    assert len(opened) == expected
    assert hermes.call("note_find", word="milk") == {"notes": ["milk"]}


def test_reload_runs_the_plugins_first_module_again(install: Install) -> None:
    """An accessor in `__init__.py` starts empty after a reload, as the tutorial says."""
    install()
    child.run(_reload, 2, limit=LIMIT)


def test_reload_leaves_an_accessor_in_a_submodule(install: Install) -> None:
    """One in a module of its own survives."""
    split(install())
    child.run(_reload, 1, limit=LIMIT)


def split(folder: Path) -> None:
    """Move the plugin's code into `store.py`, and import it from there."""
    shutil.move(folder / "__init__.py", folder / "store.py")
    (folder / "__init__.py").write_text("from .store import register\n", "utf-8")
