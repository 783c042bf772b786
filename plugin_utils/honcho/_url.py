"""What the address of a Honcho server says about it."""

import re
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit, urlunsplit

__all__ = ("is_http", "is_local", "is_loopback", "shown_url", "without_version")

# Listed one by one: `is_private` of the standard library covers more, and what it covers changes
# between Python releases.
_LOOPBACK = [ip_network("127.0.0.0/8"), ip_network("::1")]
_PRIVATE = [
    ip_network("10.0.0.0/8"),  # RFC 1918, with the next two
    ip_network("172.16.0.0/12"),
    ip_network("192.168.0.0/16"),
    ip_network("169.254.0.0/16"),  # link-local
    ip_network("fe80::/10"),
    ip_network("fc00::/7"),  # unique local
    ip_network("100.64.0.0/10"),  # carrier-grade NAT: what VPNs such as Tailscale hand out
]


def is_loopback(url: str) -> bool:
    """Return whether the server runs on this machine."""
    name = _hostname(url)
    return name == "localhost" or _is_within(name, _LOOPBACK)


def is_local(url: str) -> bool:
    """Return whether the server runs on this machine or in its private network.

    Decided by the address alone: a name other than `localhost` can point anywhere.
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
    return (name or "").removesuffix(".")


def _is_within(name: str, networks: list[IPv4Network | IPv6Network]) -> bool:
    try:
        address = ip_address(name)
    except ValueError:
        return False
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address
    return any(address in network for network in networks)
