"""What a client would be built from, and whether it can be built at all."""

import os
from hashlib import blake2b
from typing import NamedTuple

from plugin_utils.honcho._hosts import host_block
from plugin_utils.honcho._url import is_http, is_local, is_loopback, shown_url, without_version
from plugin_utils.honcho._values import (
    ENVIRONMENTS,
    KEY_FORM,
    Environment,
    usable_key,
    usable_seconds,
)
from plugin_utils.honcho.config import HonchoClientConfig

__all__ = ("DEFAULT_TIMEOUT", "Connection", "checked")

DEFAULT_TIMEOUT = 30.0
"""Seconds. The SDK's own 60 is long for a thread of a host that waits."""

_LOCAL_KEY = "local"  # the SDK wants a key; a server without authentication takes any
_SALT = os.urandom(blake2b.SALT_SIZE)


class Connection(NamedTuple):
    """What tells one client from another: equal connections, equal clients.

    Both the build and the check of a later config use `of`, so that the two cannot disagree.
    """

    host: str
    workspace_id: str
    base_url: str | None
    environment: Environment
    timeout: float
    api_key: str | None
    """A fingerprint of the key that is sent, good within this process only."""

    @classmethod
    def of(cls, config: HonchoClientConfig) -> "Connection":
        """Return the connection that a config leads to. Never fails."""
        return cls.with_key(config, _key_to_send(config))

    @classmethod
    def with_key(cls, config: HonchoClientConfig, key: str | None) -> "Connection":
        """Return the connection of a config whose key to send is known already."""
        return cls(
            host=config.host,
            workspace_id=config.workspace_id,
            base_url=without_version(config.base_url) if config.base_url else None,
            environment=config.environment,
            timeout=usable_seconds(config.timeout) or DEFAULT_TIMEOUT,
            api_key=_fingerprint(key),
        )

    def __repr__(self) -> str:
        shown = self._replace(base_url=self.base_url and shown_url(self.base_url))
        return f"Connection{tuple(shown)}"

    def differences(self, other: "Connection") -> tuple[str, ...]:
        """Return the names of the fields that differ."""
        return tuple(name for name in self._fields if getattr(self, name) != getattr(other, name))


def checked(config: HonchoClientConfig) -> tuple[Connection, str]:
    """Return the connection and the key to send, once it is sure that a client can be built.

    The key is looked up once, so that the connection's fingerprint is that of the key sent. It is
    never empty: the SDK (2.2.0 and 2.7.0) would replace an empty key by `HONCHO_API_KEY`,
    which may be another profile's.

    Raises:
        ValueError: There is no usable key, no usable address, or no such environment.
    """
    if config.environment not in ENVIRONMENTS:
        msg = f"the environment of host {config.host!r} must be one of {ENVIRONMENTS}"
        raise ValueError(msg)
    url = config.base_url
    if url is not None and not is_http(url):
        # Not shown: what is no URL can be anything, a key included.
        msg = f"the base_url of host {config.host!r} must begin with http:// or https://"
        raise ValueError(msg)
    key = _key_to_send(config)
    if key is None:
        raise _no_key(config)
    return Connection.with_key(config, key), key


def _no_key(config: HonchoClientConfig) -> ValueError:
    host, url = config.host, config.base_url
    if str(config.api_key or "").strip():
        return ValueError(
            f"host {host!r} has a Honcho key that cannot be sent: api_key must be {KEY_FORM}. "
            "A dash, a quote or an invisible blank from a formatted text is none of them; copy the "
            "key anew from where it was issued, such as https://app.honcho.dev."
        )
    if url is None:
        lack = "no Honcho key and no server address"
        advice = "for a server of your own, set HONCHO_BASE_URL"
    else:
        lack = f"no Honcho key for {shown_url(url)}, which is not in your private network"
        advice = "if the server asks for no key, set any"
    return ValueError(
        f"host {host!r} has {lack}. Get a key at https://app.honcho.dev and set HONCHO_API_KEY, "
        f"or apiKey in the host's block of honcho.json; {advice}."
    )


def _key_to_send(config: HonchoClientConfig) -> str | None:
    """Return the key for the server, or `None` if a key is needed and there is none.

    A key for this machine's own server stands in the host's block. Any other one is most likely
    the cloud's, and is not handed to whatever listens on a local port.
    """
    key = usable_key(config.api_key)
    url = config.base_url or ""
    block = host_block(config.raw, config.host) or {}
    if is_loopback(url) and not usable_key(block.get("apiKey")):
        return _LOCAL_KEY
    return key or (_LOCAL_KEY if is_local(url) else None)


def _fingerprint(key: str | None) -> str | None:
    """Return what identifies a key, salted: a short key cannot be guessed back from it."""
    if key is None:
        return None
    return blake2b(key.encode(), digest_size=8, salt=_SALT).hexdigest()
