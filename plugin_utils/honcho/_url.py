"""What the address of a Honcho server says about it."""

import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from socket import inet_aton
from urllib.parse import urlsplit, urlunsplit

__all__ = ("is_http", "is_local", "is_loopback", "shown_url", "without_version")

# Listed one by one: `is_private` of the standard library covers more, and what it covers changes
# between Python releases.
_LOOPBACK = [
    ip_network("127.0.0.0/8"),
    ip_network("::1"),
    ip_network("0.0.0.0/32"),  # "any address" to listen on; to connect to, it is this machine
    ip_network("::/128"),
]
_PRIVATE = [
    ip_network("10.0.0.0/8"),  # RFC 1918, with the next two
    ip_network("172.16.0.0/12"),
    ip_network("192.168.0.0/16"),
    ip_network("169.254.0.0/16"),  # link-local
    ip_network("fe80::/10"),
    ip_network("fc00::/7"),  # unique local
    ip_network("100.64.0.0/10"),  # carrier-grade NAT: what VPNs such as Tailscale hand out
]
_DOTS = str.maketrans(dict.fromkeys("\u3002\uff0e\uff61", "."))
"""What separates the labels of an international name besides the dot, says RFC 3490."""


def is_loopback(url: str) -> bool:
    """Return whether the address says that the server runs on this machine.

    No name is looked up. Those below `localhost` are reserved for this machine by RFC 6761.
    """
    name = _hostname(url)
    return name == "localhost" or name.endswith(".localhost") or _is_within(name, _LOOPBACK)


def is_local(url: str) -> bool:
    """Return whether the server runs on this machine or in its private network.

    Decided by the address alone: a name outside `localhost` can point anywhere.
    """
    return is_loopback(url) or _is_within(_hostname(url), _PRIVATE)


def is_http(url: str) -> bool:
    """Return whether the URL names a server that HTTP can reach."""
    return url.lower().startswith(("http://", "https://")) and bool(_hostname(url))


def without_version(url: str) -> str:
    """Return the URL without an API version at its end: the SDK's own paths begin with one."""
    scheme, separator, rest = url.rstrip("/").partition("://")
    return (scheme + separator + re.sub(r"/+v[0-9]+$", "", rest)).rstrip("/")


def shown_url(url: str) -> str:
    """Return the URL as it may be logged: without user name, password, query and fragment."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "<unreadable URL>"
    if not parts.netloc:
        return "<unreadable URL>"
    server = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, server, parts.path, "", ""))


def _hostname(url: str) -> str:
    try:
        name = urlsplit(url).hostname
    except ValueError:
        return ""
    return (name or "").translate(_DOTS).removesuffix(".")


def _is_within(name: str, networks: list[IPv4Network | IPv6Network]) -> bool:
    address = _address(name)
    return address is not None and any(address in network for network in networks)


def _address(name: str) -> IPv4Address | IPv6Address | None:
    """Return the address that a host's name is a notation of, if it is one.

    For IPv4 the C library decides, as it does when a connection is made: it takes `127.1`,
    `2130706433` and `0x7f.1` for 127.0.0.1.
    """
    try:
        if ":" in name:
            address = IPv6Address(name)
            return address.ipv4_mapped or address
        return IPv4Address(inet_aton(name))
    except (OSError, ValueError):
        return None
