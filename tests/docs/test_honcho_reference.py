"""The table of Honcho's settings is true: each name, in each place, does what it says."""

import ast
import json
import os
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from plugin_utils.honcho import HonchoClientConfig
from plugin_utils.honcho._connection import DEFAULT_TIMEOUT
from tests.docs.tables import ROOT, codes, table

PAGE = "docs/reference/honcho.md"
VALUES: dict[str, object] = {
    "workspace_id": "team",
    "api_key": "secret",
    "environment": "local",
    "base_url": "http://127.0.0.1:1",
    "timeout": 7.5,
    "peer_name": "ann",
    "ai_peer": "bot",
    "enabled": True,
}


class Source(NamedTuple):
    """A place where a setting can be made."""

    setting: str
    kind: str
    name: str


def sources() -> list[Source]:
    """Return every place of the table, from left to right."""
    kinds = ("file", "environment", "yaml")
    return [
        Source(codes(row[0])[0], kind, name)
        for row in table(PAGE, "Setting")
        for kind, cell in zip(kinds, row[1:4], strict=True)
        for name in codes(cell)
    ]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty home, which no setting of this machine reaches."""
    for name in [name for name in os.environ if name.startswith(("HERMES_", "HONCHO_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".hermes").mkdir()
    return tmp_path / ".hermes"


def write(home: Path, monkeypatch: pytest.MonkeyPatch, made: dict[Source, object]) -> None:
    """Make settings, each in its place."""
    file: dict[str, Any] = {}
    config: dict[str, Any] = {}
    for source, value in made.items():
        if source.kind == "environment":
            monkeypatch.setenv(source.name, str(value))
            continue
        *section, name = source.name.split(".")
        inner = file if source.kind == "file" else config
        for part in section:
            inner = inner.setdefault(part, {})
        inner[name] = value
    (home / "honcho.json").write_text(json.dumps(file), "utf-8")
    (home / "config.yaml").write_text(json.dumps(config), "utf-8")  # JSON is YAML


@pytest.mark.parametrize("source", sources(), ids=lambda source: f"{source.kind}:{source.name}")
def test_each_name_sets_its_setting(
    source: Source, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A value under a name of the table, and nowhere else, becomes the setting."""
    value = VALUES[source.setting]
    assert getattr(HonchoClientConfig.from_global_config(), source.setting) != value
    write(home, monkeypatch, {source: value})
    assert getattr(HonchoClientConfig.from_global_config(), source.setting) == value


@pytest.mark.learned("order-that-nobody-reads")
@pytest.mark.parametrize("setting", ["api_key", "base_url", "timeout"])
def test_names_are_tried_from_left_to_right(
    setting: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two names in the table that both have a value, the left one counts."""
    stem = "http://127.0.0.1:" if setting == "base_url" else ""
    rest = {
        source: f"{stem}{number}"
        for number, source in enumerate(sources(), start=1)
        if source.setting == setting
    }
    while rest:
        with monkeypatch.context() as place:
            write(home, place, dict(rest))
            found = getattr(HonchoClientConfig.from_global_config(), setting)
        first = next(iter(rest))
        assert str(found).removesuffix(".0") == rest.pop(first), first


@pytest.mark.learned("order-that-nobody-reads")
def test_files_are_tried_in_the_order_of_the_page(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file that the page names first counts; without it, the next one."""
    sentence = (ROOT / PAGE).read_text("utf-8").partition("It is looked up at each call:")[2]
    names = codes(sentence.partition(". ")[0])
    assert len(names) == 3
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "served"))
    places = [
        Path(name.replace("$HERMES_HOME", f"{tmp_path}/served").replace("~", str(tmp_path)))
        for name in names
    ]
    assert home / "honcho.json" in places
    for number, place in enumerate(places):
        place.parent.mkdir(exist_ok=True)
        place.write_text(json.dumps({"workspace": str(number)}), "utf-8")
    for number, place in enumerate(places):
        assert HonchoClientConfig.from_global_config().workspace_id == str(number)
        place.unlink()


def test_the_table_has_every_setting() -> None:
    """Each field of the config has a row, but for the host and the parsed file."""
    told = [codes(row[0])[0] for row in table(PAGE, "Setting")]
    assert told == [f.name for f in fields(HonchoClientConfig) if f.name not in {"host", "raw"}]


def test_the_table_has_every_name() -> None:
    """Each name that the code looks a setting up by is on the page."""
    code = ast.parse((ROOT / "plugin_utils/honcho/config.py").read_text("utf-8"))
    looked_up = {
        argument.value
        for call in ast.walk(code)
        if isinstance(call, ast.Call)
        and ast.unparse(call.func).rpartition(".")[2] in {"places", "_variables"}
        for argument in call.args
        if isinstance(argument, ast.Constant)
    }
    assert len(looked_up) > 10
    assert looked_up <= {source.name.removeprefix("honcho.") for source in sources()}


@pytest.mark.usefixtures("home")
def test_the_defaults_are_true() -> None:
    """With nothing set, the settings are what the last column says."""
    config = HonchoClientConfig.from_global_config()
    told = {codes(row[0])[0]: row[4] for row in table(PAGE, "Setting")}
    assert told == {
        "workspace_id": "the host's name",
        "api_key": "none",
        "environment": f"`{config.environment}`",
        "base_url": "none",
        "timeout": f"`{DEFAULT_TIMEOUT:g}` seconds",
        "peer_name": "none",
        "ai_peer": "the host's name",
        "enabled": "true if there is a key or a URL",
    }
    assert config.workspace_id == config.ai_peer == config.host == "hermes"
    assert (config.api_key, config.base_url, config.peer_name, config.timeout) == (None,) * 4
    assert not config.enabled
