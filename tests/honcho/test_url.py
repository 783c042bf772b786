"""What an address says about its server."""

import pytest

from plugin_utils.honcho._url import is_http, is_local, is_loopback, shown_url, without_version

LOOPBACK = [
    "http://127.0.0.1:8000",
    "http://127.255.255.254",
    "http://[::1]:8000/v3",
    "http://[::ffff:127.0.0.1]",
    "http://localhost",
    "https://LocalHost:8000/v3",
    "http://localhost.:8000",
    "http://user:password@localhost:8000",
    "http://foo.localhost",
    "http://Foo.LocalHost.:8000",
    "http://0.0.0.0:8000",
    "http://0",
    "http://0x0",
    "http://[::]:8000",
    "http://[::ffff:0.0.0.0]",
    "http://[::ffff:7f00:1]",
    "http://[::1%25lo]",
    "http://127.1:8000",
    "http://127.0.1",
    "http://2130706433",
    "http://0x7f000001",
    "http://0x7f.1",
    "http://0177.0.0.1",
    "http://127.0.0.1.",
    "http://127\u30020\uff0e0\uff611",
    "http://localhost\u3002",
]
PRIVATE = [
    "http://10.0.0.1",
    "http://10.255.255.255",
    "http://172.16.0.1",
    "http://172.31.255.255",
    "http://192.168.0.1:8000",
    "http://[::ffff:192.168.0.1]",
    "http://169.254.1.1",
    "http://100.64.0.1",
    "http://100.127.255.255",
    "http://[fc00::1]",
    "http://[fdff::1]:8000",
    "http://[fe80::1]",
    "http://[fe80::1%25eth0]",
    "http://10.1",
    "http://192.168.257",
    "http://3232235521",
]
PUBLIC = [
    "https://api.honcho.dev",
    "http://172.15.255.255",
    "http://172.32.0.1",
    "http://100.63.255.255",
    "http://100.128.0.1",
    "http://192.169.0.1",
    "http://11.0.0.1",
    "http://128.0.0.1",
    "http://198.18.0.1",
    "http://0.0.0.1",
    "http://128.1",
    "http://4294967296",
    "http://127.0.0.0.1",
    "http://127.0.0.256",
    "http://[::127.0.0.1]",
    "http://[::2]",
    "http://[127.1]",
    "http://[2001:db8::1]",
    "http://[fec0::1]",
    "http://honcho.local:8000",
    "http://localhost.evil.example",
    "http://notlocalhost",
    "http://local\ud800host",
    "http://localhost@evil.example",
    "http://127.0.0.1.evil.example",
    "http://evil.example/127.0.0.1",
    "http://evil.example#@localhost",
    "localhost:8000",
    "127.0.0.1",
    "http://[::1",
    "",
]


@pytest.mark.parametrize("url", LOOPBACK)
def test_this_machine(url: str) -> None:
    """An address that leads here, in any notation, and the names reserved for it in any case."""
    assert is_loopback(url)
    assert is_local(url)


@pytest.mark.parametrize("url", PRIVATE)
def test_the_private_network(url: str) -> None:
    """The ranges that no router on the internet forwards, up to their edges."""
    assert not is_loopback(url)
    assert is_local(url)


@pytest.mark.parametrize("url", PUBLIC)
def test_anywhere_else(url: str) -> None:
    """Neighbours of the ranges, names, look-alikes, and what is no address or no URL."""
    assert not is_loopback(url)
    assert not is_local(url)


@pytest.mark.parametrize(
    ("url", "rest"),
    [
        ("http://x:1/v3", "http://x:1"),
        ("http://x:1/v3/", "http://x:1"),
        ("http://x:1/v3//", "http://x:1"),
        ("http://x:1/v12", "http://x:1"),
        ("http://x:1/api/v3", "http://x:1/api"),
        ("http://x:1/api//v3", "http://x:1/api"),
        ("http://x:1/", "http://x:1"),
        ("http://x:1", "http://x:1"),
        ("http://x:1/v3/workspaces", "http://x:1/v3/workspaces"),
        ("http://x:1/version3", "http://x:1/version3"),
        ("http://x:1/v", "http://x:1/v"),
        ("http://v3", "http://v3"),
        ("http://v3/v3", "http://v3"),
    ],
)
def test_the_version_at_the_end_goes(url: str, rest: str) -> None:
    """The SDK's paths begin with it; a server called like a version keeps its name."""
    assert without_version(url) == rest


@pytest.mark.parametrize("url", ["http://h", "HTTPS://h:1/p", "http://[::1]"])
def test_what_http_can_reach(url: str) -> None:
    """Scheme and server are there."""
    assert is_http(url)


@pytest.mark.parametrize("url", ["h:1", "//h", "http://", "http:h", "http://[::1", "ftp://h", ""])
def test_what_http_cannot_reach(url: str) -> None:
    """The scheme is missing or another one, or there is no server."""
    assert not is_http(url)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://h:1/api", "http://h:1/api"),
        ("http://user:password@h:1/api?key=k#k", "http://h:1/api"),
        ("http://a@b@[::1]:1", "http://[::1]:1"),
        ("password@h:1", "<unreadable URL>"),
        ("http:password@h", "<unreadable URL>"),
        ("http://[password", "<unreadable URL>"),
    ],
)
def test_what_is_shown_of_an_address(url: str, shown: str) -> None:
    """Nothing that can hold a secret."""
    assert shown_url(url) == shown
