"""A key is never shown: one distinctive key everywhere, and a search through all that is said."""

import sys
from collections.abc import Callable, Iterator

import pytest

from plugin_utils.honcho import HonchoClientConfig, get_honcho_client, reset_honcho_client
from plugin_utils.honcho._connection import Connection
from plugin_utils.honcho.client import _honcho_client_slot
from tests.honcho.conftest import Write
from tests.support.hermes import plant
from tests.support.honcho_server import HonchoServer
from tests.support.leaks import Said, listen

KEY = "distinctive-k3y-0f-hermes"


@pytest.fixture
def said() -> Iterator[Said]:
    """Everything said during the test, which must have been something, and never the key."""
    with listen() as said:
        yield said
    assert "plugin_utils" in said.text()
    assert KEY not in said.text()


def attempt(action: Callable[[], object], said: Said) -> None:
    """Note down what an action returns or raises."""
    try:
        said.add(action())
    except Exception as error:  # noqa: BLE001 - whatever it is, it must not show the key
        said.add(error)


def test_keys_in_their_places(write: Write, said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    """In every block, at the root, in the environment, and in an address."""
    monkeypatch.setenv("HONCHO_API_KEY", KEY)
    monkeypatch.setenv("HONCHO_URL", f"http://{KEY}:{KEY}@10.0.0.1/?k={KEY}")
    hosts = {"hermes": {"apiKey": KEY}, "desk": {"apiKey": KEY}, "hermes_coder": {}}
    write(".hermes/honcho.json", {"apiKey": KEY, "hosts": hosts})
    for host in (*hosts, "nobody"):
        config = HonchoClientConfig.from_global_config(host=host)
        assert config.api_key == KEY
        said.add([config, Connection.of(config), {config: 1}])
        get_honcho_client(config)
        said.add(_honcho_client_slot)
        get_honcho_client(HonchoClientConfig(api_key=f"{KEY}2"))
        reset_honcho_client()


WRONG_LINES = ("timeout", "environment", "enabled", "baseUrl", "hosts", "endpoint", "unknown")


@pytest.mark.parametrize("wrong", [KEY, [KEY], {KEY: KEY}, f"{KEY}\n{KEY}", f"{KEY}\ud800"])
def test_keys_in_wrong_places(
    wrong: object, write: Write, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pasted into another line, or into another file, or wrapped in something."""
    write(".hermes/honcho.json", {"apiKey": [wrong], **dict.fromkeys(WRONG_LINES, wrong)})
    attempt(get_honcho_client, said)
    write(".hermes/honcho.json", f'{{"apiKey": "{KEY}" oops')
    write(".hermes/config.yaml", f"honcho: {{base_url: {KEY}: [")
    attempt(get_honcho_client, said)
    monkeypatch.setenv("HONCHO_ENVIRONMENT", KEY)
    attempt(get_honcho_client, said)


def test_builds_that_fail(said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the host's installer, in the import, and for want of a usable key."""

    def ensure(*_: object, **__: object) -> None:
        raise RuntimeError

    plant(monkeypatch, "tools.lazy_deps", ensure=ensure)
    monkeypatch.setitem(sys.modules, "honcho", None)
    attempt(lambda: get_honcho_client(HonchoClientConfig(api_key=KEY)), said)
    attempt(lambda: get_honcho_client(HonchoClientConfig(api_key=f"{KEY}\n{KEY}")), said)
    attempt(lambda: get_honcho_client(HonchoClientConfig(base_url=f"{KEY}@h", api_key=KEY)), said)


def test_calls_that_fail(said: Said) -> None:
    """Refused by the server, sent to nobody, and made on a closed client."""
    with HonchoServer("another") as server:
        raw = {"hosts": {"hermes": {"apiKey": KEY}}}
        client = get_honcho_client(HonchoClientConfig(api_key=KEY, base_url=server.url, raw=raw))
        attempt(client.get_metadata, said)
        assert server.requests[0].authorization == f"Bearer {KEY}"
        reset_honcho_client()
        attempt(client.get_metadata, said)
