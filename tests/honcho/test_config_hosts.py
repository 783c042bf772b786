"""For which host the settings are read, and that hosts are kept apart."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from plugin_utils.honcho import HonchoClientConfig
from tests.honcho.conftest import Resolve, Warnings
from tests.support.hermes import plant


@pytest.mark.parametrize(
    ("profile", "host"),
    [
        ("default", "hermes"),
        ("custom", "hermes"),
        ("", "hermes"),
        (None, "hermes"),
        ("coder", "hermes_coder"),
        ("a.b", "hermes_a_b"),
    ],
)
def test_the_profile_names_the_host(
    profile: str | None, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A named profile of Hermes speaks as a host of its own."""
    plant(monkeypatch, "hermes_cli.profiles", get_active_profile_name=lambda: profile)
    config = HonchoClientConfig.from_global_config()
    assert (config.host, config.ai_peer) == (host, host)


@pytest.mark.parametrize(
    ("folder", "host"),
    [(".hermes/profiles/coder", "hermes_coder"), (".hermes", "hermes"), ("data", "hermes")],
)
def test_the_profiles_folder_names_the_host(
    folder: str, host: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that Hermes started, but that is not Hermes, finds the same host."""
    monkeypatch.setenv("HERMES_HOME", str(home / folder))
    assert HonchoClientConfig.from_env().host == host


@pytest.mark.learned("two-spellings-of-one-key")
def test_a_link_to_the_profiles_folder_names_the_same_host(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hermes follows symbolic links; a link to itself is followed nowhere, and is no error."""
    (home / ".hermes/profiles/coder").mkdir(parents=True)
    (home / "link").symlink_to(home / ".hermes/profiles/coder")
    monkeypatch.setenv("HERMES_HOME", str(home / "link"))
    assert HonchoClientConfig.from_env().host == "hermes_coder"
    (home / "loop").symlink_to(home / "loop")
    monkeypatch.setenv("HERMES_HOME", str(home / "loop"))
    assert HonchoClientConfig.from_env().host == "hermes"


def test_a_host_that_cannot_name_its_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails in the host is no reason to fail here."""

    def fail() -> str:
        raise RuntimeError

    plant(monkeypatch, "hermes_cli.profiles", get_active_profile_name=fail)
    assert HonchoClientConfig.from_env().host == "hermes"


def test_the_environment_names_the_host_verbatim(
    monkeypatch: pytest.MonkeyPatch, resolve: Resolve
) -> None:
    """HERMES_HONCHO_HOST wins over the profile and the file, and is not changed."""
    plant(monkeypatch, "hermes_cli.profiles", get_active_profile_name=lambda: "coder")
    monkeypatch.setenv("HERMES_HONCHO_HOST", "Claude.Desk")
    assert resolve({"defaultHost": "desk"}).host == "Claude.Desk"
    monkeypatch.setenv("HERMES_HONCHO_HOST", " ")
    assert resolve({"defaultHost": "desk"}).host == "hermes_coder"


def test_the_default_host_is_for_the_default_profile_only(
    monkeypatch: pytest.MonkeyPatch, resolve: Resolve
) -> None:
    """A named profile never ends up in the block that the file names for everybody else."""
    content = {"defaultHost": "desk", "hosts": {"desk": {"workspace": "w"}}}
    config = resolve(content)
    assert (config.host, config.workspace_id) == ("desk", "w")
    assert HonchoClientConfig.from_env().host == "desk"
    plant(monkeypatch, "hermes_cli.profiles", get_active_profile_name=lambda: "coder")
    config = resolve(content)
    assert (config.host, config.workspace_id) == ("hermes_coder", "hermes_coder")


class Setting(NamedTuple):
    """A setting that the host block and the root have both."""

    attribute: str
    name: str
    block: object
    root: object
    meant: tuple[object, object] | None = None
    """What the two mean, where it is not what is written."""


SETTINGS = [
    Setting("workspace_id", "workspace", "block", "root"),
    Setting("api_key", "apiKey", "block", "root"),
    Setting("environment", "environment", "production", "local"),
    Setting("base_url", "baseUrl", "http://block:1", "http://root:1"),
    Setting("base_url", "base_url", "http://block:1", "http://root:1"),
    Setting("timeout", "timeout", 1, "2", (1.0, 2.0)),
    Setting("timeout", "requestTimeout", 1, "2", (1.0, 2.0)),
    Setting("peer_name", "peerName", "block", "root"),
    Setting("ai_peer", "aiPeer", "block", "root"),
    Setting("enabled", "enabled", block=True, root=False),
    Setting("enabled", "enabled", block=False, root=True),
]


@pytest.mark.learned("host-block-ignored")
@pytest.mark.parametrize("block", ["hermes", "hermes_coder", "hermes.coder", "desk"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_every_setting_of_the_host_block_beats_the_root(
    setting: Setting, block: str, resolve: Resolve
) -> None:
    """Reported elsewhere as cadences that were ignored in the host block: no setting is here."""
    host = block.replace(".", "_")
    root = {setting.name: setting.root}
    in_block, at_root = setting.meant or (setting.block, setting.root)

    def value(block_content: object) -> object:
        config = resolve({**root, "hosts": {block: block_content}}, host)
        return getattr(config, setting.attribute)

    assert value({setting.name: setting.block}) == in_block
    assert value({setting.name: None}) == at_root
    assert value({}) == at_root


@pytest.mark.learned("local-server-gets-the-wrong-key")
def test_the_new_name_of_a_block_beats_the_dotted_one(resolve: Resolve) -> None:
    """A file that was migrated may still have the old block."""
    hosts = {"hermes.coder": {"workspace": "old"}, "hermes_coder": {"workspace": "new"}}
    assert resolve({"hosts": hosts}, "hermes_coder").workspace_id == "new"


@pytest.mark.parametrize(
    "hosts", [None, [], ["hermes"], "hermes", 3, {"hermes": None}, {"hermes": []}]
)
def test_hosts_of_another_type_are_absent(hosts: object, resolve: Resolve) -> None:
    """What is no block holds no settings."""
    config = resolve({"hosts": hosts, "workspace": "root"})
    assert config.workspace_id == "root"


@pytest.mark.parametrize(
    ("content", "workspace"),
    [
        ({"workspace": "root", "hosts": {"desk": {"workspace": "block"}}}, "block"),
        ({"workspace": "root", "hosts": {"desk": {"workspace": " "}}}, "root"),
        ({"hosts": {"desk": {}}}, "desk"),
        ({}, "desk"),
    ],
)
def test_the_workspace_falls_back_to_the_hosts_name(
    content: object, workspace: str, resolve: Resolve
) -> None:
    """Hosts without a workspace do not share one by accident."""
    assert resolve(content, "desk").workspace_id == workspace


NEIGHBOUR = {"hermes": {"apiKey": "neighbour"}}


def test_a_named_host_never_gets_another_hosts_key(
    resolve: Resolve, warnings: Warnings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor the environment's, which may be the other profile's; the warning says so."""
    monkeypatch.setenv("HONCHO_API_KEY", "environment")
    config = resolve({"hosts": {**NEIGHBOUR, "hermes_coder": {"workspace": "w"}}}, "hermes_coder")
    assert (config.api_key, config.enabled) == (None, False)
    (warning,) = warnings()
    assert "'hermes_coder'" in warning
    assert "HONCHO_API_KEY" in warning


def test_a_named_host_gets_the_key_at_the_root(resolve: Resolve, warnings: Warnings) -> None:
    """The root speaks for all hosts."""
    content = {"apiKey": "root", "hosts": {**NEIGHBOUR, "hermes_coder": {}}}
    assert resolve(content, "hermes_coder").api_key == "root"
    assert warnings() == []


@pytest.mark.parametrize(
    ("host", "hosts"),
    [
        ("hermes_coder", {"hermes_coder": {}}),
        ("hermes_coder", {"hermes_coder": {}, "hermes": {"apiKey": " "}}),
        ("hermes_coder", {"hermes_coder": {}, "hermes.coder": {"apiKey": "mine, once"}}),
        ("hermes_coder", NEIGHBOUR),
        ("hermes", {"hermes": {}, "hermes_coder": {"apiKey": "k"}}),
    ],
    ids=["alone", "no key beside", "an old block of its own", "no block", "the default host"],
)
def test_the_environments_key_where_hosts_are_not_kept_apart(
    host: str, hosts: object, resolve: Resolve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a named host with a block, beside one with a key, must do without it."""
    monkeypatch.setenv("HONCHO_API_KEY", "environment")
    assert resolve({"hosts": hosts}, host).api_key == "environment"


@pytest.mark.learned("host-block-ignored")
def test_the_parsed_file_is_kept(resolve: Resolve) -> None:
    """A plugin finds settings of its own in it."""
    content = {"hosts": {"hermes": {"dialecticCadence": 3}}}
    assert resolve(content).raw == json.loads(json.dumps(content))
