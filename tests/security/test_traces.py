"""A key that the user has somewhere is in nothing that this project writes or says."""

import base64
import copy
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from plugin_utils import KeyedSlots, SingletonSlot, aio, lazy_singleton
from plugin_utils.fal import load_fal_client
from plugin_utils.vendoring import render
from tests.support.leaks import Said, listen
from tests.support.planted import KEY, plant, traces, traces_below

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "docs/how-to/connect-to-honcho.md", "docs/how-to/one-client-per-profile.md")
RACY = f"""
import threading
_client = None
_clients = {{"{KEY}": None}}
class Holder:
    client = None
    @classmethod
    def get(cls, key="{KEY}"):
        if cls.client is None:
            cls.client = connect("{KEY}")
        return cls.client
def get_client(key="{KEY}"):  # {KEY}
    global _client
    if _client is None:
        _client = connect("{KEY}", key=f"{KEY}{{key}}")
    return _client
def client_for():
    if _clients["{KEY}"] is None:
        _clients["{KEY}"] = connect()
    return _clients["{KEY}"]
def other_for():
    if "{KEY}" not in _clients:
        _clients["{KEY}"] = connect()
    return _clients["{KEY}"]
"""


def run(command: list[str], folder: Path, environment: dict[str, str]) -> bytes:
    """Run a command and return all it says. It may find something wrong, but must not crash."""
    # Not measured: a process for each block would take twice as long, and show nothing new.
    own = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env={**own, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=55,
        check=False,
    )
    assert done.returncode in {0, 1}, done.stdout.decode()
    return done.stdout


@pytest.mark.parametrize(
    "form",
    [
        f"key {KEY}",
        KEY[::-1],
        KEY.encode().hex(),
        *(base64.b64encode(f"{'x' * pad}{KEY}yy".encode()).decode() for pad in range(3)),
    ],
)
def test_the_search_finds_the_key_in_every_form(form: str, tmp_path: Path) -> None:
    """As it is, reversed, in hex, in base64, in a file and in a file's name."""
    assert traces(form.encode())
    (tmp_path / "a").write_text(form, "utf-8")
    (tmp_path / KEY).touch()
    assert traces_below(tmp_path) == [tmp_path / "a", tmp_path / KEY]
    assert not traces(b"key none")


@pytest.mark.timeout(120)
def test_what_the_runner_of_blocks_leaves(tmp_path: Path) -> None:
    """Its output, its report, its cache and its folders: the blocks never see the user's key."""
    environment = plant(tmp_path / "home")
    out = tmp_path / "out"
    options = [f"--junitxml={out}/report.xml", f"--basetemp={out}/t", "-o", f"cache_dir={out}/c"]
    said = run(["pytest", "--codeblocks", "-rA", *options, *PAGES], ROOT, environment)
    assert b" passed" in said
    assert b" failed" not in said
    assert (out / "report.xml").is_file()
    assert traces(said) == []
    assert traces_below(out) == []


@pytest.mark.parametrize("output", ["text", "json", "github", "sarif"])
def test_what_the_checker_says(output: str, tmp_path: Path) -> None:
    """It names what it finds, and shows no line of the file."""
    (tmp_path / "racy.py").write_text(RACY, "utf-8")
    environment = plant(tmp_path / "home")
    command = ["plugin_utils.checker", "--level", "info", "--output-format", output]
    said = run([*command, "racy.py"], tmp_path, environment)
    assert b"LS001" in said
    assert traces(said) == []


def test_what_is_written_into_a_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one-file copy is the same for everybody."""
    plain = render()
    for name, value in plant(tmp_path / "home").items():
        monkeypatch.setenv(name, value)
    assert render() == plain
    assert traces(plain.encode()) == []


class Secretive:
    """An instance whose own repr shows a key, as many do."""

    def __repr__(self) -> str:
        return f"Secretive({KEY})"

    def close(self) -> None:
        """Fail, without the key."""
        raise OSError(9, "already closed")


def attempt(said: Said, action: Callable[[], object]) -> None:
    """Note down what an action says, if it raises."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            action()
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not show the key
            said.add(error)
    for warning in caught:
        said.add(str(warning.message))


def test_what_the_primitives_say() -> None:
    """Their reprs and errors show neither keys of a table nor instances."""
    slot: SingletonSlot[Secretive] = SingletonSlot(close=Secretive.close)
    slots: KeyedSlots[str, Secretive] = KeyedSlots(close=Secretive.close, name="clients")
    bounded: KeyedSlots[str, Secretive] = KeyedSlots(close=Secretive.close, max_size=1)
    accessor = lazy_singleton(close=Secretive.close)(Secretive)
    coroutines: aio.SingletonSlot[Secretive] = aio.SingletonSlot(close=Secretive.close)

    def again() -> Secretive:
        return slots.get(KEY, again)

    def fill() -> None:
        for each in (KEY, f"{KEY}2"):
            with bounded.lease(each, Secretive):
                pass

    with listen() as said:
        attempt(said, lambda: slots.get(KEY, again))
        attempt(said, lambda: slots.get(KEY, KEY))  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] # a key where the factory belongs
        slots.get(KEY, Secretive)
        slot.get(Secretive)
        accessor()
        for each in (slot, slots, bounded, accessor, coroutines):
            said.add(each)
            attempt(said, partial(copy.copy, each))
            attempt(said, partial(pickle.dumps, each))
        attempt(said, slot.reset)
        attempt(said, accessor.reset)
        attempt(said, lambda: slots.get(KEY, Secretive))
        attempt(said, slots.reset_all)
        attempt(said, lambda: bounded.get(KEY, Secretive))
        attempt(said, fill)
    text = said.text()
    for expected in ("RecursiveBuildError", "cannot copy", "already closed", "max_size and close"):
        assert expected in text
    assert traces(text.encode()) == []


def test_what_the_import_of_fal_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It works, or says what is missing, with the user's key in the environment."""
    for name, value in plant(tmp_path / "home").items():
        monkeypatch.setenv(name, value)
    with listen() as said:
        said.add(load_fal_client())
        said.add(load_fal_client)
        load_fal_client.reset()
        monkeypatch.setitem(sys.modules, "fal_client", None)
        attempt(said, load_fal_client)
    assert "pip install fal-client" in said.text()
    assert traces(said.text().encode()) == []
