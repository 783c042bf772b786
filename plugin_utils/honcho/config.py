"""`HonchoClientConfig`: which Honcho server, workspace and key a plugin uses."""

import logging
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Self

from plugin_utils.honcho._files import find_config, read_config, read_hermes_section, section
from plugin_utils.honcho._hosts import DEFAULT_HOST, HostSettings, active_host, is_isolated
from plugin_utils.honcho._url import shown_url
from plugin_utils.honcho._values import (
    ENVIRONMENTS,
    Environment,
    first_environment,
    first_flag,
    first_key,
    first_seconds,
    first_text,
    first_url,
)

__all__ = ("HonchoClientConfig",)

logger = logging.getLogger(__name__)

_LOCAL_URL = "http://localhost:8000"  # what the SDK's environment "local" means


@dataclass(frozen=True, repr=False)
class HonchoClientConfig:
    """What a Honcho client is built from.

    Make one with a constructor below, or by hand. An instance does not change and may be shared
    between threads. Its `repr` never shows a key.

    Attributes:
        host: Names the block under `hosts` in the file that speaks for this plugin.
        workspace_id: The Honcho workspace.
        api_key: The key, or `None`. A server on this machine gets it only if the host's block in
            `raw` has one: any other is most likely the cloud's.
        environment: `"production"` or `"local"`, for a config without `base_url`.
        base_url: The server's address. Environment `"local"` without one means port 8000 of this
            machine.
        timeout: Time limit of a request in seconds. `None` means 30.
        peer_name: The user's peer, or `None`.
        ai_peer: The plugin's own peer; the host's name, if not given.
        enabled: Whether the user wants Honcho used. The accessor does not look at it: ask it
            before you call.
        raw: The file as parsed, for settings of your own.

    Example:
        ```python
        from plugin_utils.honcho import HonchoClientConfig

        config = HonchoClientConfig(api_key="secret", workspace_id="notes")
        assert config.ai_peer == "hermes"
        assert "secret" not in repr(config)
        ```
    """

    host: str = DEFAULT_HOST
    workspace_id: str = DEFAULT_HOST
    api_key: str | None = None
    environment: Environment = "production"
    base_url: str | None = None
    timeout: float | None = None
    peer_name: str | None = None
    ai_peer: str = ""
    enabled: bool = False
    raw: dict[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not self.ai_peer:
            object.__setattr__(self, "ai_peer", self.host)
        base_url = (self.base_url or "").strip()
        if not base_url and self.environment == "local":
            base_url = _LOCAL_URL
        object.__setattr__(self, "base_url", base_url or None)

    def __repr__(self) -> str:
        shown = {each.name: getattr(self, each.name) for each in fields(self)}
        shown["api_key"] = "<set>" if self.api_key else None
        shown["base_url"] = self.base_url and shown_url(self.base_url)
        del shown["raw"]  # the file holds the keys of every host
        return f"HonchoClientConfig({', '.join(f'{name}={shown[name]!r}' for name in shown)})"

    @classmethod
    def from_env(cls, workspace_id: str = DEFAULT_HOST, host: str | None = None) -> Self:
        """Make a config from the environment, then Hermes' `config.yaml`.

        Reads `HONCHO_API_KEY`, `HONCHO_BASE_URL` or `HONCHO_URL`, `HONCHO_ENVIRONMENT` and
        `HONCHO_TIMEOUT`.

        Args:
            workspace_id: The Honcho workspace.
            host: The host, if not the active one.

        Raises:
            ValueError: `HONCHO_ENVIRONMENT` is neither `local` nor `production`.
        """
        host = host or active_host(read_config(find_config()) or {})
        return cls._resolve({}, host, workspace=workspace_id)

    @classmethod
    def from_global_config(
        cls, host: str | None = None, config_path: str | os.PathLike[str] | None = None
    ) -> Self:
        """Make a config from the Honcho file, then the environment, then Hermes' `config.yaml`.

        The file is `$HERMES_HOME/honcho.json`, else `~/.hermes/honcho.json`, else
        `~/.honcho/config.json`, looked up at each call. In the file, the host's own block wins
        over the top level. A file that is missing or unusable leads to `from_env`; an unusable
        setting is ignored; both with a warning.

        Args:
            host: The host, if not the active one: `HERMES_HONCHO_HOST`, else the Hermes profile,
                else `defaultHost` of the file.
            config_path: Another file.

        Raises:
            ValueError: `HONCHO_ENVIRONMENT` is needed, and is neither `local` nor `production`.
        """
        raw = read_config(Path(config_path) if config_path else find_config())
        host = host or active_host(raw or {})
        if raw is None:
            return cls.from_env(host=host)
        return cls._resolve(raw, host, workspace=host)

    @classmethod
    def _resolve(cls, raw: dict[str, Any], host: str, workspace: str) -> Self:
        """Take each setting from the first place that has a usable value."""
        places = HostSettings(raw, host).places
        hermes = _HermesSettings()
        api_key = first_key(places("apiKey")) or _environment_key(raw, host)
        base_url = first_url(
            chain(
                places("baseUrl", "base_url"),
                [("endpoint.baseUrl", section(raw, "endpoint").get("baseUrl"))],
                _variables("HONCHO_BASE_URL", "HONCHO_URL"),
                hermes.places("base_url"),
            )
        )
        timeout = first_seconds(
            chain(
                places("timeout", "requestTimeout"),
                _variables("HONCHO_TIMEOUT"),
                hermes.places("timeout", "request_timeout"),
            )
        )
        environment = first_environment(places("environment")) or _environment_variable()
        enabled = first_flag(places("enabled"))
        if enabled is None:
            enabled = bool(api_key or base_url) or environment == "local"
        return cls(
            host=host,
            workspace_id=first_text(places("workspace")) or workspace,
            api_key=api_key,
            environment=environment,
            base_url=base_url,
            timeout=timeout,
            peer_name=first_text(places("peerName")),
            ai_peer=first_text(places("aiPeer")) or host,
            enabled=enabled,
            raw=raw,
        )


class _HermesSettings:
    """The `honcho` section of Hermes' `config.yaml`, read when a setting is first looked for."""

    def __init__(self) -> None:
        self._section = cache(read_hermes_section)

    def places(self, *names: str) -> Iterator[tuple[str, object]]:
        yield from ((f"honcho.{name} of config.yaml", self._section().get(name)) for name in names)


def _variables(*names: str) -> Iterator[tuple[str, object]]:
    yield from ((name, os.environ.get(name)) for name in names)


def _environment_key(raw: Mapping[str, object], host: str) -> str | None:
    if is_isolated(raw, host):
        logger.warning(
            "host %r has no apiKey in its block while another host has its own: it gets neither "
            "that one nor HONCHO_API_KEY. Set apiKey in the block, or at the top of the file for "
            "all hosts.",
            host,
        )
        return None
    return first_key(_variables("HONCHO_API_KEY"))


def _environment_variable() -> Environment:
    told = os.environ.get("HONCHO_ENVIRONMENT", "").strip() or "production"
    for name in ENVIRONMENTS:
        if name == told:
            return name
    # Not shown: a key pasted into the wrong variable would end up in the log.
    msg = f"HONCHO_ENVIRONMENT must be one of {ENVIRONMENTS}; the SDK refuses any other"
    raise ValueError(msg)
