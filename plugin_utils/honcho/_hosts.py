"""Who a plugin speaks for: the host, its block in the Honcho file, and what it may not use."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from plugin_utils import _hermes
from plugin_utils.honcho._files import mapping, section
from plugin_utils.honcho._values import first_text, usable_key

__all__ = ("DEFAULT_HOST", "HostSettings", "active_host", "host_block", "is_isolated")

DEFAULT_HOST = "hermes"
"""The host that speaks for the default profile."""


def active_host(raw: Mapping[str, object]) -> str:
    """Return the host of this process: told by the environment, the profile, or the file."""
    told = os.environ.get("HERMES_HONCHO_HOST", "").strip()
    if told:
        return told
    profile = _hermes.active_profile()
    if profile and profile not in {"default", "custom"}:
        return f"{DEFAULT_HOST}_" + re.sub(r"[^\w-]", "_", profile)
    # A named profile must not end up in the block that the file names for everybody else.
    return first_text([("defaultHost", raw.get("defaultHost"))]) or DEFAULT_HOST


def host_block(raw: Mapping[str, object], host: str) -> Mapping[str, object] | None:
    """Return the settings of one host, or `None` if the file has no block for it.

    A profile's block may still have the dotted name that it had in old files.
    """
    hosts = section(raw, "hosts")
    for name in _block_names(host):
        block = mapping(hosts.get(name))
        if block is not None:
            return block
    return None


def is_isolated(raw: Mapping[str, object], host: str) -> bool:
    """Return whether a named host must do without the key in the environment.

    A file where another host has a key of its own keeps its hosts apart. Then a host that has a
    block and no key must not get the key of whichever profile's environment this process has. Of
    a host without a block the file says nothing: the environment is the only place to set it up.
    """
    if host == DEFAULT_HOST or host_block(raw, host) is None:
        return False
    others = section(raw, "hosts").keys() - set(_block_names(host))
    return any(usable_key(section(section(raw, "hosts"), name).get("apiKey")) for name in others)


class HostSettings(NamedTuple):
    """Looks settings up in a Honcho file for one host."""

    raw: Mapping[str, object]
    host: str

    def places(self, *names: str) -> Iterator[tuple[str, object]]:
        """Yield where a setting may stand under each of its names, the host's own block first."""
        block = host_block(self.raw, self.host) or {}
        yield from ((f"hosts.{self.host}.{name}", block.get(name)) for name in names)
        yield from ((name, self.raw.get(name)) for name in names)


def _block_names(host: str) -> tuple[str, ...]:
    prefix = f"{DEFAULT_HOST}_"
    if not host.startswith(prefix):
        return (host,)
    return (host, f"{DEFAULT_HOST}.{host.removeprefix(prefix)}")
