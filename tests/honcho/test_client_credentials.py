"""Which key goes to which server, and what a client cannot be built from."""

import honcho
import pytest

from plugin_utils.honcho import HonchoClientConfig, get_honcho_client
from plugin_utils.honcho._connection import Connection
from plugin_utils.honcho.client import _honcho_client_slot
from tests.honcho.conftest import Built, Resolve, Write
from tests.support.hermes import plant
from tests.support.honcho_server import HonchoServer

LOOPBACK = "http://127.0.0.1:1"
PRIVATE = ["http://10.0.0.1", "http://100.64.0.1", "http://[fd00::1]", "http://169.254.0.1"]
PUBLIC = ["https://api.honcho.dev", "http://172.32.0.1", "http://100.128.0.1", "http://h.local"]


def key_sent(config: HonchoClientConfig, built: Built) -> object:
    """Return the key that the SDK got."""
    get_honcho_client(config)
    return built[-1]["api_key"]


@pytest.mark.learned("server-without-a-key")
@pytest.mark.parametrize("url", [LOOPBACK, "http://LOCALHOST:1", *PRIVATE])
def test_a_local_server_needs_no_key(url: str, resolve: Resolve, built: Built) -> None:
    """The SDK wants one, and gets a placeholder."""
    assert key_sent(resolve({"baseUrl": url}), built) == "local"


@pytest.mark.learned("local-server-gets-the-wrong-key")
@pytest.mark.parametrize("name", ["hermes_w", "hermes.w"])
@pytest.mark.parametrize("url", [LOOPBACK, *PRIVATE, *PUBLIC])
def test_a_key_in_the_host_block_is_sent(
    url: str, name: str, resolve: Resolve, built: Built
) -> None:
    """Reported elsewhere as a local server's token never sent, and as a dotted block missed."""
    config = resolve({"baseUrl": url, "hosts": {name: {"apiKey": "token"}}}, "hermes_w")
    assert key_sent(config, built) == "token"


@pytest.mark.learned("local-server-gets-the-wrong-key")
@pytest.mark.parametrize(
    "url", [LOOPBACK, "http://localhost:1", "http://[::1]:1", "http://0.0.0.0:1", "http://127.1:1"]
)
def test_a_stored_cloud_key_is_not_sent_to_this_machine(
    url: str, resolve: Resolve, built: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key at the root or in the environment is not for whatever listens on a local port."""
    monkeypatch.setenv("HONCHO_API_KEY", "cloud")
    assert key_sent(resolve({"baseUrl": url}), built) == "local"


@pytest.mark.learned("local-server-gets-the-wrong-key")
def test_a_root_key_is_not_sent_to_this_machine(resolve: Resolve, built: Built) -> None:
    """Reported elsewhere with both in one file, where the key went to the local port."""
    assert key_sent(resolve({"apiKey": "cloud", "baseUrl": LOOPBACK}), built) == "local"


@pytest.mark.parametrize("url", [*PRIVATE, *PUBLIC])
def test_a_root_key_is_sent_anywhere_else(url: str, resolve: Resolve, built: Built) -> None:
    """To another machine of the private network, too."""
    assert key_sent(resolve({"apiKey": "root", "baseUrl": url}), built) == "root"


# Those that a connection can be made to on any machine, without a name being looked up.
@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{}",
        "http://0.0.0.0:{}",
        "http://0:{}",
        "http://127.1:{}",
        "http://2130706433:{}",
        "http://[::ffff:127.0.0.1]:{}",
        "http://127\u30020.0.1:{}",
    ],
)
def test_no_notation_lets_a_cloud_key_out(
    url: str, server: HonchoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the HTTP library takes for this machine, so does the choice of the key."""
    monkeypatch.setenv("HONCHO_API_KEY", "cloud")
    monkeypatch.setenv("HONCHO_BASE_URL", url.format(server.url.rpartition(":")[2]))
    get_honcho_client().get_metadata()
    assert [request.authorization for request in server.requests] == ["Bearer local"]


@pytest.mark.parametrize("key", ["abc\u2013def", "abc\u200bdef", "abc\ndef", "abc\ud800"])
@pytest.mark.parametrize("url", [None, *PUBLIC])
def test_a_key_that_cannot_be_sent(url: str | None, key: str, built: Built) -> None:
    """It is told apart from none, and not shown."""
    with pytest.raises(ValueError, match=r"host 'hermes'.*cannot be sent.*ASCII") as caught:
        get_honcho_client(HonchoClientConfig(api_key=key, base_url=url))
    assert "abc" not in str(caught.value)
    assert "no Honcho key" not in str(caught.value)
    assert built == []


@pytest.mark.parametrize("key", [None, "", "  "])
def test_no_key_at_all(key: str | None, built: Built, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says how to get one; the environment's is not slipped in by the SDK."""
    monkeypatch.setenv("HONCHO_API_KEY", "cloud")
    with pytest.raises(ValueError, match=r"app\.honcho\.dev.*HONCHO_API_KEY.*HONCHO_BASE_URL"):
        get_honcho_client(HonchoClientConfig(api_key=key))
    for url in PUBLIC:
        with pytest.raises(ValueError, match=r"host 'hermes' has no Honcho key for http.*apiKey"):
            get_honcho_client(HonchoClientConfig(api_key=key, base_url=url))
    assert key_sent(HonchoClientConfig(api_key=key, base_url=PRIVATE[0]), built) == "local"


def test_an_isolated_host_without_a_key(
    resolve: Resolve, built: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gets an error that names it, and not the key that the SDK finds by itself."""
    monkeypatch.setenv("HONCHO_API_KEY", "cloud")
    hosts = {"hermes": {"apiKey": "neighbour"}, "hermes_w": {}}
    with pytest.raises(ValueError, match="host 'hermes_w'"):
        get_honcho_client(resolve({"hosts": hosts}, "hermes_w"))
    local = resolve({"hosts": hosts, "baseUrl": LOOPBACK}, "hermes_w")
    assert key_sent(local, built) == "local"


@pytest.mark.learned("built-before-it-is-checked")
def test_credentials_are_checked_first(built: Built, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused config installs nothing, builds nothing and caches nothing; a good one works."""
    asked: list[str] = []

    def ensure(feature: str, *, prompt: bool) -> None:
        asked.append(feature)

    plant(monkeypatch, "tools.lazy_deps", ensure=ensure)
    with pytest.raises(ValueError, match="no Honcho key"):
        get_honcho_client()
    assert (asked, built, _honcho_client_slot.peek()) == ([], [], None)
    get_honcho_client(HonchoClientConfig(api_key="k"))
    assert (asked, len(built)) == (["memory.honcho"], 1)


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://h", "http:h", "secret@h"])
def test_an_address_that_http_cannot_reach(url: str, built: Built) -> None:
    """The error names the setting and not its value, which can be anything."""
    with pytest.raises(ValueError, match=r"base_url of host 'hermes'.*https?://") as caught:
        get_honcho_client(HonchoClientConfig(api_key="k", base_url=url))
    assert url not in str(caught.value)
    assert built == []


def test_an_environment_the_sdk_refuses(built: Built) -> None:
    """Of a config made by hand, it is refused before the SDK's own error."""
    config = HonchoClientConfig(api_key="k", environment="staging")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] - it is what is refused
    with pytest.raises(ValueError, match="'local', 'production'"):
        get_honcho_client(config)
    assert built == []


def test_what_the_sdk_gets(built: Built) -> None:
    """Every setting, the address without its version, and a pool of ours."""
    url = "http://10.0.0.1/v3"
    client = get_honcho_client(HonchoClientConfig("h", "w", "k", "local", url, timeout=7))
    (options,) = built
    pool = options.pop("http_client")
    assert options == {
        "api_key": "k",
        "environment": "local",
        "base_url": "http://10.0.0.1",
        "workspace_id": "w",
        "timeout": 7.0,
    }
    assert not pool.is_closed
    assert (client.workspace_id, client.base_url) == ("w", "http://10.0.0.1")


@pytest.mark.parametrize("timeout", [None, 0, -1, float("nan"), float("inf")])
def test_no_time_limit_means_thirty_seconds(timeout: float | None, built: Built) -> None:
    """The SDK's own minute is long for a thread of a host that waits."""
    get_honcho_client(HonchoClientConfig(api_key="k", timeout=timeout))
    assert built[0]["timeout"] == 30.0


def test_production_is_the_sdks_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """A config without an address does not get HONCHO_URL from the SDK behind its back."""
    monkeypatch.setenv("HONCHO_URL", "http://elsewhere:1")
    client = get_honcho_client(HonchoClientConfig(api_key="k"))
    assert client.base_url == "https://api.honcho.dev"


@pytest.mark.learned("no-key-for-a-local-server")
def test_the_key_on_the_wire(write: Write) -> None:
    """A server that asks for a key gets the host block's, and refuses the placeholder."""
    with HonchoServer("token") as server:
        hosts = {"hermes": {"apiKey": "token"}}
        write(".hermes/honcho.json", {"baseUrl": server.url, "hosts": hosts})
        get_honcho_client().peer("alice")
        assert {request.authorization for request in server.requests} == {"Bearer token"}
        stranger = honcho.Honcho(base_url=server.url, api_key="local", workspace_id="w")
        with pytest.raises(honcho.AuthenticationError):
            stranger.peer("alice")
        stranger._http._client.close()


def test_a_fingerprint_is_no_key() -> None:
    """Equal keys have equal ones, different keys different ones, and the key is not in them."""
    one, same, other = (
        Connection.of(HonchoClientConfig(api_key=key)) for key in ("ka", "ka", "kb")
    )
    assert one == same
    assert one.differences(same) == ()
    assert one.differences(other) == ("api_key",)
    assert "ka" not in repr(one)
