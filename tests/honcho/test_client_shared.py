"""One client for the process: who builds it, what later configs change, and its end."""

import gc
import logging
import weakref
from dataclasses import replace
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import honcho
import pytest

from plugin_utils import SingletonSlot
from plugin_utils.honcho import HonchoClientConfig, get_honcho_client, reset_honcho_client
from plugin_utils.honcho.client import _built, _honcho_client_slot
from plugin_utils.testing import run_together
from tests.honcho.conftest import Built, Warnings, Write

CONFIG = HonchoClientConfig(api_key="k")


@pytest.mark.learned("two-first-callers")
def test_twenty_first_calls_build_one_client(built: Built) -> None:
    """Counted at the SDK's constructor: equal results alone would not show a discarded second."""
    clients = run_together(20, lambda: get_honcho_client(CONFIG))
    assert len(set(map(id, clients))) == 1
    assert len(built) == 1


@pytest.mark.learned("closed-what-it-borrowed")
def test_the_slot_is_where_tests_look_for_it() -> None:
    """Tests of plugins put a fake in by this name: it is served, not judged, and not closed."""
    assert isinstance(_honcho_client_slot, SingletonSlot)
    fake = Mock(spec=honcho.Honcho)
    assert _honcho_client_slot.get(lambda: fake) is fake
    assert get_honcho_client() is fake
    assert get_honcho_client(CONFIG) is fake
    reset_honcho_client()
    assert fake.mock_calls == []
    assert _honcho_client_slot.peek() is None


def test_a_fake_of_any_kind_is_served(warnings: Warnings) -> None:
    """Even one that no weak reference can point to."""
    fake: Any = SimpleNamespace()
    _honcho_client_slot.get(lambda: fake)
    assert get_honcho_client(CONFIG) is fake
    reset_honcho_client()
    assert warnings() == []


@pytest.mark.learned("changed-setting-ignored")
def test_a_hit_without_a_config_reads_nothing(
    write: Write, warnings: Warnings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What became of the files and the environment meanwhile does not matter to it."""
    client = get_honcho_client(CONFIG)
    write(".hermes/honcho.json", "broken")
    write(".hermes/config.yaml", "[")
    monkeypatch.setenv("HONCHO_ENVIRONMENT", "refused")
    assert get_honcho_client() is client
    assert warnings() == []


@pytest.mark.learned("check-and-build-disagree")
def test_the_same_config_gives_the_same_client(
    write: Write, built: Built, warnings: Warnings
) -> None:
    """Reported elsewhere as a check that read other sources than the build: endless rebuilds."""
    write(".hermes/honcho.json", {"apiKey": "k", "timeout": "82.5"})
    clients = [get_honcho_client(HonchoClientConfig.from_global_config()) for _ in range(3)]
    assert get_honcho_client() is clients[0] is clients[1] is clients[2]
    assert (len(built), built[0]["timeout"], warnings()) == (1, 82.5, [])


@pytest.mark.learned("changed-setting-ignored")
def test_configs_that_mean_the_same_are_the_same(warnings: Warnings) -> None:
    """Spelled differently, or different in what the client is not built from."""
    config = HonchoClientConfig(api_key="k", base_url="http://10.0.0.1")
    get_honcho_client(config)
    get_honcho_client(replace(config, base_url=" http://10.0.0.1/v3/ "))
    get_honcho_client(replace(config, timeout=30, enabled=True, peer_name="p", raw={"a": 1}))
    assert warnings() == []


OTHERS = [
    ({"host": "elsewhere"}, "host"),
    ({"workspace_id": "elsewhere"}, "workspace_id"),
    ({"base_url": "http://elsewhere"}, "base_url"),
    ({"environment": "local", "base_url": "https://elsewhere"}, "base_url, environment"),
    ({"timeout": 7.0}, "timeout"),
    ({"api_key": "elsewhere"}, "api_key"),
    ({"api_key": None}, "api_key"),
    ({"workspace_id": "elsewhere", "timeout": 7.0}, "workspace_id, timeout"),
]


@pytest.mark.learned("changed-setting-ignored")
@pytest.mark.parametrize(("change", "names"), OTHERS)
def test_the_first_config_wins(
    change: dict[str, Any], names: str, built: Built, warnings: Warnings
) -> None:
    """A config for another client gets the first one, and a warning that names what differs."""
    client = get_honcho_client(CONFIG)
    other = replace(CONFIG, **change)
    assert all(get_honcho_client(other) is client for _ in range(3))
    assert len(built) == 1
    (warning,) = warnings()
    assert f"differs in {names}." in warning
    assert "elsewhere" not in warning


def test_one_warning_for_each_set_of_fields(warnings: Warnings) -> None:
    """More calls with the same difference stay silent; a new client starts over."""
    others = [HonchoClientConfig(api_key="k", timeout=timeout) for timeout in (7, 8)]
    others.append(HonchoClientConfig(api_key="other", timeout=7))
    for _ in range(2):
        get_honcho_client(CONFIG)
        for other in [*others, *others]:
            get_honcho_client(other)
        reset_honcho_client()
    assert [each.split("differs in ")[1].split(".")[0] for each in warnings()] == [
        "timeout",
        "timeout, api_key",
    ] * 2


def test_one_warning_from_many_threads(warnings: Warnings) -> None:
    """The threads agree on who warns."""
    get_honcho_client(CONFIG)
    run_together(20, lambda: get_honcho_client(HonchoClientConfig(api_key="other")))
    assert len(warnings()) == 1


@pytest.mark.learned("changed-setting-ignored", "stale-key-after-a-rebuild")
def test_a_reset_leads_to_a_new_client_from_new_settings(write: Write, built: Built) -> None:
    """Reported elsewhere as a stale token after a rebuild: the build reads the files itself."""
    write(".hermes/honcho.json", {"apiKey": "old"})
    old = get_honcho_client()
    write(".hermes/honcho.json", {"apiKey": "new"})
    assert get_honcho_client() is old
    reset_honcho_client()
    assert get_honcho_client() is not old
    assert [options["api_key"] for options in built] == ["old", "new"]


@pytest.mark.learned("replaced-and-never-closed")
def test_a_reset_closes_the_pool_once(built: Built, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours only, and only the first reset finds something to close."""
    client = get_honcho_client(CONFIG)
    pool = built[0]["http_client"]
    close = Mock(side_effect=pool.close)
    monkeypatch.setattr(pool, "close", close)
    run_together(20, reset_honcho_client)
    assert close.call_count == 1
    assert pool.is_closed
    assert id(client) not in _built


def test_what_we_know_goes_with_the_client() -> None:
    """Nothing here keeps a client alive, however it was dropped."""
    known = len(_built)
    client = get_honcho_client(CONFIG)
    gone = weakref.ref(client)
    assert len(_built) == known + 1
    _honcho_client_slot.reset(close=False)
    assert len(_built) == known + 1
    del client
    gc.collect()
    assert (gone(), len(_built)) == (None, known)


def test_a_client_that_cannot_be_built_leaves_no_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the SDK's constructor fails, our pool is closed and nothing is cached."""
    pools: list[Any] = []

    def refuse(**options: Any) -> None:  # noqa: ANN401 - the SDK's options, of many types
        pools.append(options["http_client"])
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(honcho, "Honcho", refuse)
        with pytest.raises(RuntimeError):
            get_honcho_client(CONFIG)
    assert [pool.is_closed for pool in pools] == [True]
    assert isinstance(get_honcho_client(CONFIG), honcho.Honcho)


@pytest.mark.learned("two-threads-one-refusal")
def test_a_stale_client_is_dropped_once(built: Built) -> None:
    """Threads that find the same client stale replace it once, not each other's new one."""
    stale = get_honcho_client(CONFIG)

    def renew() -> honcho.Honcho:
        _honcho_client_slot.reset(expected=stale)
        return get_honcho_client(CONFIG)

    assert len(set(map(id, run_together(20, renew)))) == 1
    assert len(built) == 2


def test_a_reset_waits_for_a_running_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """No client from before the reset is served after it."""
    building, go_on = Event(), Event()
    construct = honcho.Honcho

    def slow(**options: Any) -> honcho.Honcho:  # noqa: ANN401 - the SDK's options, of many types
        building.set()
        assert go_on.wait(10)
        return construct(**options)

    monkeypatch.setattr(honcho, "Honcho", slow)
    first: list[honcho.Honcho] = []
    builder = Thread(target=lambda: first.append(get_honcho_client(CONFIG)))
    builder.start()
    assert building.wait(10)
    resetter = Thread(target=reset_honcho_client)
    resetter.start()
    go_on.set()
    builder.join(10)
    resetter.join(10)
    assert get_honcho_client(CONFIG) is not first[0]


def test_a_build_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Host, workspace and server at INFO; the key nowhere."""
    caplog.set_level(logging.DEBUG, "plugin_utils")
    get_honcho_client(
        HonchoClientConfig("h", "w", "secret", base_url="http://u:secret@10.0.0.1/v3")
    )
    reset_honcho_client()
    get_honcho_client(HonchoClientConfig("h", "w", "secret"))
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("INFO", "built the Honcho client: host 'h', workspace 'w', server http://10.0.0.1"),
        ("INFO", "built the Honcho client: host 'h', workspace 'w', server production"),
    ]
