"""Which files the settings come from, and what an unusable file leads to."""

import os
import sys
from contextvars import ContextVar
from pathlib import Path
from threading import Barrier

import pytest

from plugin_utils.honcho import HonchoClientConfig
from plugin_utils.testing import run_together
from tests.honcho.conftest import Warnings, Write
from tests.support.hermes import plant

PLACES = (".hermes/profiles/coder/honcho.json", ".hermes/honcho.json", ".honcho/config.json")


@pytest.mark.parametrize("first", range(3))
def test_the_first_file_that_exists_is_read(
    first: int, home: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Hermes folder comes first, then the default one, then Honcho's own."""
    monkeypatch.setenv("HERMES_HOME", str(home / ".hermes/profiles/coder"))
    for place in PLACES[first:]:
        write(place, {"workspace": place.replace("/", "_")})
    config = HonchoClientConfig.from_global_config()
    assert config.workspace_id == PLACES[first].replace("/", "_")


def test_the_file_is_looked_up_at_each_call(write: Write) -> None:
    """A file that appears or changes between two calls is seen by the second."""
    assert HonchoClientConfig.from_global_config().workspace_id == "hermes"
    write(".honcho/config.json", {"workspace": "one"})
    assert HonchoClientConfig.from_global_config().workspace_id == "one"
    write(".hermes/honcho.json", {"workspace": "two"})
    assert HonchoClientConfig.from_global_config().workspace_id == "two"


def test_a_file_can_be_named(write: Write) -> None:
    """A named file is read instead of the usual ones, its default host included."""
    write(".hermes/honcho.json", {"workspace": "usual"})
    path = write("other.json", {"workspace": "named", "defaultHost": "desk"})
    config = HonchoClientConfig.from_global_config(config_path=path)
    assert (config.workspace_id, config.host) == ("named", "desk")


def test_the_host_says_where_its_folder_is(
    home: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inside Hermes its own word counts: one process can serve several profiles."""
    write("served/honcho.json", {"workspace": "served"})
    plant(monkeypatch, "hermes_constants", get_hermes_home=lambda: home / "served")
    assert HonchoClientConfig.from_global_config().workspace_id == "served"


@pytest.mark.learned("profile-in-the-environment")
def test_two_workers_have_a_profile_each(
    home: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host answers for the thread that asks, and nothing is written to the environment."""
    names = ("one", "two")
    for name in names:
        write(f"{name}/honcho.json", {"workspace": name})
    profile: ContextVar[str] = ContextVar("profile")
    plant(monkeypatch, "hermes_constants", get_hermes_home=lambda: home / profile.get())
    environment = dict(os.environ)
    waiting = iter(names)
    both_chosen = Barrier(2)

    def work() -> bool:
        name = next(waiting)
        profile.set(name)
        both_chosen.wait(10)
        return HonchoClientConfig.from_global_config().workspace_id == name

    assert run_together(2, work) == [True, True]
    assert dict(os.environ) == environment


def test_without_a_file_the_environment_decides(
    monkeypatch: pytest.MonkeyPatch, warnings: Warnings
) -> None:
    """A missing file is nothing to warn about."""
    monkeypatch.setenv("HONCHO_API_KEY", "k")
    monkeypatch.setenv("HERMES_HONCHO_HOST", "desk")
    config = HonchoClientConfig.from_global_config()
    assert config == HonchoClientConfig.from_env()
    assert config == HonchoClientConfig("desk", "hermes", "k", enabled=True)
    assert warnings() == []


UNUSABLE = {
    "empty": b"",
    "no JSON": b"{workspace: file}",
    "cut off": b'{"workspace": "file"',
    "not UTF-8": b'{"workspace": "caf\xe9"}',
    "UTF-16": '{"workspace": "file"}'.encode("utf-16"),
    "a list": b'[{"workspace": "file"}]',
    "null": b"null",
    "a string": b'"file"',
    "nested too deeply": b"[" * 100_000,
    "a number of too many digits": b'{"timeout": ' + b"9" * 5_000 + b"}",
}


@pytest.mark.parametrize("content", UNUSABLE.values(), ids=UNUSABLE.keys())
def test_an_unusable_file_leads_to_the_environment(
    content: bytes, write: Write, warnings: Warnings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is ignored as a whole, with one warning that names it and says why."""
    path = write(".hermes/honcho.json", content)
    monkeypatch.setenv("HONCHO_API_KEY", "k")
    assert HonchoClientConfig.from_global_config() == HonchoClientConfig(api_key="k", enabled=True)
    (warning,) = warnings()
    named, reason = warning.split(" is ignored: ")
    assert named == repr(str(path))
    assert reason


def test_a_folder_in_place_of_the_file(home: Path, warnings: Warnings) -> None:
    """What cannot be read is ignored like what cannot be parsed."""
    (home / ".hermes/honcho.json").mkdir(parents=True)
    assert HonchoClientConfig.from_global_config() == HonchoClientConfig()
    assert "honcho.json" in warnings()[0]


def test_a_byte_order_mark_is_no_part_of_the_content(write: Write, warnings: Warnings) -> None:
    """A file saved by a Windows editor reads as any other."""
    write(".hermes/honcho.json", b'\xef\xbb\xbf{"workspace": "w"}')
    assert HonchoClientConfig.from_global_config().workspace_id == "w"
    assert warnings() == []


@pytest.mark.parametrize(
    ("content", "base_url", "timeout"),
    [
        ("honcho:\n  base_url: http://h:1\n  timeout: 12\n", "http://h:1", 12.0),
        ("honcho:\n  request_timeout: '7.5'\n", None, 7.5),
        ("honcho:\n  timeout: 5\n  request_timeout: 7\n", None, 5.0),
        ("honcho:\n  timeout: never\n  request_timeout: 7\n", None, 7.0),
        ("\ufeffhoncho: {timeout: 5}\n", None, 5.0),
        ("honcho: null\n", None, None),
        ("honcho: [1]\n", None, None),
        ("model: m\n", None, None),
        ("", None, None),
    ],
)
def test_the_hosts_own_settings_come_last(
    content: str, base_url: str | None, timeout: float | None, write: Write
) -> None:
    """Address and time limit may also stand in Hermes' config.yaml."""
    write(".hermes/config.yaml", content)
    config = HonchoClientConfig.from_global_config()
    assert (config.base_url, config.timeout) == (base_url, timeout)
    assert config.enabled is (base_url is not None)


def test_the_hosts_own_settings_give_way(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Honcho file and the environment both win over config.yaml."""
    write(".hermes/config.yaml", "honcho: {base_url: http://yaml:1, timeout: 1}")
    write(".hermes/honcho.json", {"timeout": 3})
    monkeypatch.setenv("HONCHO_BASE_URL", "http://env:1")
    monkeypatch.setenv("HONCHO_TIMEOUT", "2")
    config = HonchoClientConfig.from_global_config()
    assert (config.base_url, config.timeout) == ("http://env:1", 3.0)


BROKEN_YAML = {
    "not UTF-8": b"honcho: caf\xe9",
    "not YAML": b"honcho: [",
    "control characters": b"honcho: \x00",
    "no mapping": b"- honcho",
    "no such date": b"honcho: 2024-99-99",
    "no such truth value": b"honcho: !!bool perhaps",
    "nested too deeply": b"[" * 1_000,
}


@pytest.mark.parametrize("content", BROKEN_YAML.values(), ids=BROKEN_YAML.keys())
def test_an_unusable_config_yaml_is_ignored(
    content: bytes, write: Write, warnings: Warnings
) -> None:
    """It is ignored with one warning, though two settings were looked for in it."""
    path = write(".hermes/config.yaml", content)
    assert HonchoClientConfig.from_global_config() == HonchoClientConfig()
    (warning,) = warnings()
    assert warning.startswith(f"{str(path)!r} is ignored: ")


def test_config_yaml_is_read_only_when_needed(write: Write, warnings: Warnings) -> None:
    """A broken config.yaml bothers nobody whose settings are complete without it."""
    write(".hermes/config.yaml", "[")
    write(".hermes/honcho.json", {"baseUrl": "http://h:1", "timeout": 3})
    HonchoClientConfig.from_global_config()
    assert warnings() == []


def test_config_yaml_without_pyyaml(
    write: Write, warnings: Warnings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library does not require PyYAML; where it is missing, the warning says what to do."""
    write(".hermes/config.yaml", "honcho: {timeout: 5}")
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert HonchoClientConfig.from_global_config().timeout is None
    (warning,) = warnings()
    assert "pip install pyyaml" in warning
