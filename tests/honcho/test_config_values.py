"""What a single setting means, from the file and from the environment."""

from dataclasses import FrozenInstanceError, fields, replace

import pytest

from plugin_utils.honcho import HonchoClientConfig
from tests.honcho.conftest import Resolve, Warnings

USABLE_SECONDS = [(90, 90.0), (" 45 ", 45.0), ("82.5", 82.5), (1e3, 1000.0), ("1e3", 1000.0)]
UNUSABLE_SECONDS: list[object] = [
    0,
    -5,
    "0",
    "nan",
    "inf",
    "30s",
    "",
    "  ",
    True,
    False,
    [],
    {},
    10**400,
    1e300,
]


@pytest.mark.parametrize(("given", "seconds"), USABLE_SECONDS)
def test_a_time_limit(
    given: float | str, seconds: float, resolve: Resolve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A number, or its digits, in the file or in the environment."""
    assert resolve({"timeout": given}).timeout == seconds
    monkeypatch.setenv("HONCHO_TIMEOUT", str(given))
    assert HonchoClientConfig.from_env().timeout == seconds


@pytest.mark.parametrize("given", UNUSABLE_SECONDS, ids=repr)
def test_what_is_no_time_limit_is_ignored(
    given: object, resolve: Resolve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next source is asked; with none left, the build takes its default."""
    assert resolve({"timeout": given}).timeout is None
    assert resolve({"timeout": given, "requestTimeout": 7}).timeout == 7.0
    assert resolve({"timeout": 7, "hosts": {"hermes": {"timeout": given}}}).timeout == 7.0
    monkeypatch.setenv("HONCHO_TIMEOUT", "8")
    assert resolve({"timeout": given}).timeout == 8.0
    monkeypatch.setenv("HONCHO_TIMEOUT", str(given))
    assert resolve({}).timeout is None


@pytest.mark.parametrize("given", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_does_not_know(given: str, resolve: Resolve) -> None:
    """Python's parser accepts them; a time limit cannot be one."""
    assert resolve(f'{{"timeout": {given}}}').timeout is None


def test_timeout_beats_request_timeout(resolve: Resolve) -> None:
    """Two names for one setting: the shorter wins, within its block."""
    assert resolve({"timeout": 1, "requestTimeout": 2}).timeout == 1.0
    block = {"hermes": {"requestTimeout": 3}}
    assert resolve({"timeout": 1, "hosts": block}).timeout == 3.0


@pytest.mark.learned("local-server-gets-the-wrong-key")
def test_the_order_of_addresses(resolve: Resolve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Host block, root in both spellings, the SDK's own form, the environment."""
    monkeypatch.setenv("HONCHO_URL", "http://f:1")
    order = [
        ("hosts", {"hermes": {"baseUrl": "http://a:1", "base_url": "http://b:1"}}, "http://a:1"),
        ("hosts", {"hermes": {"base_url": "http://b:1"}}, "http://b:1"),
        ("baseUrl", "http://c:1", "http://c:1"),
        ("base_url", "http://d:1", "http://d:1"),
        ("endpoint", {"baseUrl": "http://e:1"}, "http://e:1"),
    ]
    for first in range(len(order)):
        rest = {name: value for name, value, _ in reversed(order[first:])}
        assert resolve(rest).base_url == order[first][2]
    monkeypatch.setenv("HONCHO_BASE_URL", "http://env:1")
    assert resolve({}).base_url == "http://env:1"
    monkeypatch.delenv("HONCHO_BASE_URL")
    assert resolve({"endpoint": "http://e:1"}).base_url == "http://f:1"


@pytest.mark.parametrize("name", ["HONCHO_BASE_URL", "HONCHO_URL"])
@pytest.mark.parametrize(
    ("value", "base_url"), [("  http://h:1\n", "http://h:1"), ("", None), ("  ", None)]
)
def test_an_address_in_the_environment(
    name: str, value: str, base_url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blanks around it go, and an address alone turns Honcho on."""
    monkeypatch.setenv(name, value)
    config = HonchoClientConfig.from_env()
    assert (config.base_url, config.enabled) == (base_url, base_url is not None)


@pytest.mark.parametrize(
    "url", ["http://h\x1b[31m:1", "http://h:1/\x00", "http://h\n:1", "http://\ud800", "http://h 1"]
)
def test_an_address_with_control_characters(url: str, resolve: Resolve, warnings: Warnings) -> None:
    """It is ignored with a warning that does not repeat it."""
    config = resolve({"baseUrl": url})
    assert (config.base_url, config.enabled) == (None, False)
    (warning,) = warnings()
    assert "'baseUrl'" in warning
    assert url not in warning


@pytest.mark.learned("server-without-a-key")
def test_an_address_without_a_key(resolve: Resolve) -> None:
    """Reported elsewhere as a refused setup: snake case, a local server and no key."""
    config = resolve({"base_url": "http://localhost:8000"})
    assert (config.base_url, config.api_key, config.enabled) == (
        "http://localhost:8000",
        None,
        True,
    )


@pytest.mark.parametrize(("value", "key"), [("k", "k"), (" k\n", "k"), ("", None), (" ", None)])
def test_a_key_in_the_environment(
    value: str, key: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key alone turns Honcho on; a blank one is none."""
    monkeypatch.setenv("HONCHO_API_KEY", value)
    config = HonchoClientConfig.from_env()
    assert (config.api_key, config.enabled) == (key, key is not None)


def test_a_blank_key_falls_through(resolve: Resolve, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty entry in the host block leads to the root, and then to the environment."""
    monkeypatch.setenv("HONCHO_API_KEY", "environment")
    hosts = {"hermes": {"apiKey": ""}}
    assert resolve({"apiKey": "root", "hosts": hosts}).api_key == "root"
    assert resolve({"apiKey": " ", "hosts": hosts}).api_key == "environment"


@pytest.mark.parametrize("key", [7, ["k"], {"k": 1}, "two\nlines", "k\x00", "k\ud800", "clé"])
def test_a_key_that_cannot_be_sent(key: object, resolve: Resolve, warnings: Warnings) -> None:
    """It is ignored with a warning that does not repeat it."""
    assert resolve({"apiKey": key}).api_key is None
    assert warnings() == ["'apiKey' is ignored: it must be a key of printable ASCII characters"]


@pytest.mark.parametrize("value", ["", " ", None])
def test_no_environment_is_production(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty HONCHO_ENVIRONMENT is none."""
    if value is not None:
        monkeypatch.setenv("HONCHO_ENVIRONMENT", value)
    assert HonchoClientConfig.from_env().environment == "production"


@pytest.mark.parametrize("value", ["staging", "Production", "prod", "demo"])
def test_an_environment_that_the_sdk_refuses(
    value: str, monkeypatch: pytest.MonkeyPatch, resolve: Resolve
) -> None:
    """The error names the variable and what is allowed; the file's word makes it unneeded."""
    monkeypatch.setenv("HONCHO_ENVIRONMENT", value)
    with pytest.raises(ValueError, match=r"HONCHO_ENVIRONMENT.*'local', 'production'"):
        HonchoClientConfig.from_global_config()
    assert resolve({"environment": "local"}).environment == "local"


def test_an_environment_in_the_file_that_the_sdk_refuses(
    resolve: Resolve, warnings: Warnings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is passed over like any unusable setting."""
    monkeypatch.setenv("HONCHO_ENVIRONMENT", "local")
    assert resolve({"environment": "staging"}).environment == "local"
    assert "'environment'" in warnings()[0]


def test_the_local_environment_is_an_address(
    resolve: Resolve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It means the usual port of this machine, unless an address says otherwise."""
    config = resolve({"environment": "local"})
    assert (config.base_url, config.enabled) == ("http://localhost:8000", True)
    monkeypatch.setenv("HONCHO_ENVIRONMENT", "local")
    assert HonchoClientConfig.from_env().base_url == "http://localhost:8000"
    monkeypatch.setenv("HONCHO_BASE_URL", "http://h:1")
    assert HonchoClientConfig.from_env().base_url == "http://h:1"
    assert HonchoClientConfig(environment="local", base_url=" ").base_url == "http://localhost:8000"


@pytest.mark.parametrize(
    ("given", "enabled"),
    [
        (False, False),
        ("false", False),
        ("False ", False),
        ("off", False),
        (0, False),
        (True, True),
        ("true", True),
        ("yes", True),
        (1, True),
        (None, True),
        ("perhaps", True),
        (2, True),
        ([], True),
    ],
)
def test_enabled(given: object, enabled: bool, resolve: Resolve) -> None:  # noqa: FBT001 - a table
    """Told, it is as told, and the key is kept; not told, a key turns Honcho on."""
    config = resolve({"enabled": given, "apiKey": "k"})
    assert (config.enabled, config.api_key) == (enabled, "k")
    assert resolve({}).enabled is False
    assert resolve({"baseUrl": "http://h:1"}).enabled is True


@pytest.mark.parametrize("given", [7, [], {}, "a\x00b", "a\ud800b"])
def test_texts_of_another_kind_are_ignored(
    given: object, resolve: Resolve, warnings: Warnings
) -> None:
    """A name that could not be printed or sent is none."""
    config = resolve({"workspace": given, "peerName": given, "aiPeer": given, "defaultHost": given})
    assert config == HonchoClientConfig(raw=config.raw)
    assert len(warnings()) == 4


def test_defaults() -> None:
    """A config made by hand needs nothing; the plugin's peer is called like the host."""
    config = HonchoClientConfig()
    assert config == HonchoClientConfig(
        host="hermes",
        workspace_id="hermes",
        api_key=None,
        environment="production",
        base_url=None,
        timeout=None,
        peer_name=None,
        ai_peer="hermes",
        enabled=False,
        raw={},
    )
    assert HonchoClientConfig(host="desk").ai_peer == "desk"
    assert HonchoClientConfig.from_env(workspace_id="w", host="h") == HonchoClientConfig("h", "w")


def test_a_config_does_not_change() -> None:
    """It can be shared between threads, be a key, and be copied with a change."""
    config = HonchoClientConfig(api_key="k")
    for field in fields(config):
        with pytest.raises(FrozenInstanceError):
            setattr(config, field.name, None)
    assert hash(config) == hash(HonchoClientConfig(api_key="k"))
    assert replace(config, api_key="other").api_key == "other"


@pytest.mark.parametrize(
    ("base_url", "shown"),
    [
        ("https://user:secret@h:1/p?token=secret#secret", "'https://h:1/p'"),
        ("secret@h:1", "'<unreadable URL>'"),
        ("http://[secret", "'<unreadable URL>'"),
        (None, "None"),
    ],
)
def test_a_repr_shows_no_secret(base_url: str | None, shown: str) -> None:
    """Neither the key, nor the file with everybody's keys, nor what an address can carry."""
    raw = {"hosts": {"other": {"apiKey": "secret"}}}
    text = repr(HonchoClientConfig(api_key="secret", base_url=base_url, raw=raw))
    assert "secret" not in text
    assert f"base_url={shown}" in text
    assert "api_key='<set>'" in text
    assert "api_key=None" in repr(HonchoClientConfig())
