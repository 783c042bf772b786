"""What is wrong with the Honcho client of Hermes Agent 0.19.0, replayed there and on ours."""

import pytest

from tests.hosts.honcho_cases import CASES, HERMES, OURS
from tests.support import child

pytestmark = pytest.mark.usefixtures("hermes_home")
LIMIT = 180.0

WRONG = {
    "double_reset": "get_honcho_client:984: 2 new clients for one change",
    "stale_peek": "_honcho_json_timeout:894: nothing has changed, and the new client was dropped",
    "timeout_beside_client": (
        "reset_honcho_client:1111: a client built after the reset was dropped by the next call"
    ),
    "none_during_reset": "reset:135: get_honcho_client() has returned None",
    "config_before_lock": (
        "from_global_config:509: the reset has left a client for the workspace 'old'"
    ),
    "memo_by_time_only": "the change was not seen",
    "thrash": "10 clients for 2 configs",
    "dead_after_failed_swap": "the caller gets a client with the token 'hch-at-old'",
    "memo_beats_file": "the new client has the token 'hch-at-old'",
}
"""What goes wrong on Hermes's module, and at which of its lines the other thread comes."""


def _replay(case: str, module: str, wrong: str, helper: str = "") -> None:
    import sys
    from importlib import import_module

    from tests.hosts.honcho_cases import replay

    if helper:
        sys.modules["plugins.plugin_utils"] = import_module(helper)
    found = replay(case, module)
    assert found == wrong, found


@pytest.mark.parametrize("case", CASES)
def test_hermes(case: str) -> None:
    """The fault stands in the release, at this line."""
    child.run(_replay, case, HERMES, WRONG[case], limit=LIMIT)


@pytest.mark.parametrize("case", CASES)
def test_ours(case: str) -> None:
    """The same schedules, one for each line of ours that the first thread runs, and no fault."""
    child.run(_replay, case, OURS, "", limit=LIMIT)


def test_our_helper_cures_what_is_the_helpers() -> None:
    """With our slot in its place, Hermes's accessor never returns None during a reset."""
    child.run(_replay, "none_during_reset", HERMES, "", OURS.partition(".")[0], limit=LIMIT)


def test_our_helper_does_not_cure_what_is_the_accessors() -> None:
    """Peek, compare, reset stay three steps, whoever made the slot."""
    child.run(
        _replay, "double_reset", HERMES, WRONG["double_reset"], OURS.partition(".")[0], limit=LIMIT
    )


def _reset_while_held(module: str, left_open: int) -> None:
    from tests.hosts.honcho_cases import Honcho
    from tests.support.honcho_server import HonchoServer

    honcho = Honcho(module)
    with HonchoServer() as server:
        honcho.write(baseUrl=server.url)
        client = honcho.get()
        client.get_metadata()
        server.wait_for_connections(1)
        honcho.reset()
        server.wait_for_connections(left_open)
        assert honcho.get() is not client


@pytest.mark.parametrize(("module", "left_open"), [(HERMES, 1), (OURS, 0)], ids=["hermes", "ours"])
def test_connections_after_a_reset(module: str, left_open: int) -> None:
    """Ours closes the client that it drops; Hermes's stays open while anybody has it."""
    child.run(_reset_while_held, module, left_open, limit=LIMIT)


def _show_a_config(module: str, shown: bool) -> None:  # noqa: FBT001 - passed to a child process
    from tests.hosts.honcho_cases import Honcho
    from tests.support.planted import KEY, traces

    config = Honcho(module).config(api_key=KEY)
    assert bool(traces(repr(config).encode())) is shown


@pytest.mark.parametrize(
    ("module", "shown"), [(HERMES, True), (OURS, False)], ids=["hermes", "ours"]
)
def test_repr_of_a_config(module: str, shown: bool) -> None:  # noqa: FBT001 - a parameter
    """Ours does not show the key that it holds, in a log or a traceback; Hermes's does."""
    child.run(_show_a_config, module, shown, limit=LIMIT)
