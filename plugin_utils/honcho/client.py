"""The Honcho clients of a process: `SingletonSlot` and `KeyedSlots` in a real consumer."""

from __future__ import annotations

import logging
import weakref
from typing import TYPE_CHECKING, NamedTuple

from plugin_utils import KeyedSlots, SingletonSlot, _hermes
from plugin_utils.honcho._connection import Connection, checked
from plugin_utils.honcho._url import shown_url
from plugin_utils.honcho.config import HonchoClientConfig

if TYPE_CHECKING:
    import httpx
    from honcho import Honcho

__all__ = (
    "get_honcho_client",
    "get_honcho_client_for",
    "reset_honcho_client",
    "reset_honcho_client_for",
)

logger = logging.getLogger(__name__)


class _Built(NamedTuple):
    """What we know about a client of ours."""

    connection: Connection
    http: httpx.Client
    warned: dict[tuple[str, ...], object]
    """The sets of differing fields that were warned about, each with whoever came first."""


# By `id`, since the SDK's client is not hashable; an entry goes when its client does. Single dict
# operations only, which are atomic: a lock here could be wanted again by a finaliser.
_built: dict[int, _Built] = {}


def get_honcho_client(config: HonchoClientConfig | None = None) -> Honcho:
    """Return the process's Honcho client, built on the first call.

    The first config wins. A later call with a config that would build another client gets the
    first one all the same, and one warning that names the settings that differ.

    Concurrency: many threads may call first; one client is built, and all get it. A call without
    a config that finds a client reads no file and takes no lock. The client's own first use is
    not single: threads that use it first together each create the workspace on the server. Touch
    the workspace in a factory of your own if that matters.

    Failure: nothing is cached, and the next call tries again. The credentials are checked before
    anything is installed, imported or built.

    Re-entrancy: the host's installer runs inside the build. Should it come back here, it gets
    `RecursiveBuildError`.

    Fork: a child process builds a client of its own on its first call.

    Args:
        config: What to build from. By default `HonchoClientConfig.from_global_config()`, called
            inside the build: after a reset the files are read anew.

    Raises:
        ValueError: There is no key and no server to do without one, or the key or another setting
            is unusable.
        ImportError: The package `honcho-ai` is not installed. If it is installed and broken, its
            own error comes out unchanged.

    Example:
        ```python
        from plugin_utils.honcho import HonchoClientConfig, get_honcho_client

        config = HonchoClientConfig(base_url="http://127.0.0.1:8000", workspace_id="notes")
        client = get_honcho_client(config)
        assert get_honcho_client() is client
        ```
    """
    client = _honcho_client_slot.get(_build_from, config)
    if config is not None:
        _warn_if_other(client, Connection.of(config))
    return client


def reset_honcho_client() -> None:
    """Drop the client and close its connections, for tests and teardown.

    The next call of `get_honcho_client` builds a new one. A request that another thread has in
    flight on the old client breaks. The pools that the SDK builds for `client.aio` are not closed:
    it has no public way to do so.
    """
    _honcho_client_slot.reset()


def get_honcho_client_for(config: HonchoClientConfig) -> Honcho:
    """Return the client for this config's connection, built on its first call.

    Two configs get the same client if, and only if, they lead to the same connection: host,
    workspace, URL, environment, timeout and key. Two profiles never share one. The clients are
    not that of `get_honcho_client`.

    Concurrency: as for `get_honcho_client`; different connections are built in parallel.

    Failure: as for `get_honcho_client`.

    Args:
        config: What to build from. Its key is looked up once, here: the client that is found or
            built is the one for that key. A key that was changed leads to a new client, and the
            old one stays until `reset_honcho_client_for` is called with the old config.

    Raises:
        ValueError: As for `get_honcho_client`.
        ImportError: As for `get_honcho_client`.

    Example:
        ```python
        from plugin_utils.honcho import HonchoClientConfig, get_honcho_client_for

        local = "http://127.0.0.1:8000"
        work = HonchoClientConfig(base_url=local, workspace_id="work")
        home = HonchoClientConfig(base_url=local, workspace_id="home")
        assert get_honcho_client_for(work) is get_honcho_client_for(work)
        assert get_honcho_client_for(work) is not get_honcho_client_for(home)
        ```
    """
    connection, api_key = checked(config)
    return _honcho_client_slots.get(connection, _build, connection, api_key)


def reset_honcho_client_for(config: HonchoClientConfig) -> bool:
    """Drop the client for this config's connection, and return whether there was one.

    Its connections are closed, as `reset_honcho_client` does it.

    Args:
        config: Leads to the same connection as the one that the client was built from.
    """
    return _honcho_client_slots.reset(Connection.of(config))


def _build_from(config: HonchoClientConfig | None) -> Honcho:
    return _build(*checked(config or HonchoClientConfig.from_global_config()))


def _build(connection: Connection, api_key: str) -> Honcho:
    sdk, http_client = _import_sdk()
    # A pool of our own is the only one that can be closed by public means.
    http = http_client(timeout=connection.timeout)
    try:
        client = sdk(
            api_key=api_key,
            environment=connection.environment,
            base_url=connection.base_url,
            workspace_id=connection.workspace_id,
            timeout=connection.timeout,
            http_client=http,
        )
    except BaseException:
        http.close()
        raise
    _remember(client, _Built(connection, http, {}))
    return client


def _import_sdk() -> tuple[type[Honcho], type[httpx.Client]]:
    _hermes.install("memory.honcho")
    try:
        import httpx
        from honcho import Honcho
    except ModuleNotFoundError as error:
        # The package brings httpx. If it lacks anything else, only its own error says what.
        if error.name not in {"honcho", "httpx"}:
            raise
        msg = "the Honcho client needs the package honcho-ai; run: pip install honcho-ai"
        raise ImportError(msg, name="honcho") from error
    return Honcho, httpx.Client


def _remember(client: Honcho, built: _Built) -> None:
    _built[id(client)] = built
    weakref.finalize(client, _built.pop, id(client), None).atexit = False
    connection = built.connection
    logger.info(
        "built the Honcho client: host %r, workspace %r, server %s",
        connection.host,
        connection.workspace_id,
        shown_url(connection.base_url) if connection.base_url else connection.environment,
    )


def _warn_if_other(client: Honcho, wanted: Connection) -> None:
    built = _built.get(id(client))
    if built is None:
        return  # not ours: a test's fake, or a client that was reset meanwhile
    names = built.connection.differences(wanted)
    me = object()
    if names and built.warned.setdefault(names, me) is me:
        logger.warning(
            "get_honcho_client: the first config wins; this one differs in %s. "
            "To replace the client, call reset_honcho_client() first.",
            ", ".join(names),
        )


def _close(client: Honcho) -> None:
    built = _built.pop(id(client), None)
    if built is not None:
        built.http.close()


_honcho_client_slot: SingletonSlot[Honcho] = SingletonSlot(close=_close, name="honcho client")
_honcho_client_slots: KeyedSlots[Connection, Honcho] = KeyedSlots(
    close=_close, name="honcho clients"
)
