"""Two threads call first, and the first build goes on until a second one begins, if it does."""

import sys
from collections.abc import Iterator
from types import FunctionType, ModuleType

import pytest

from plugin_utils import KeyedSlots, SingletonSlot
from snippets import fixed, racy
from snippets.fixed import (
    client_with_config,
    double_checked_lock,
    one_client_per_profile,
    optional_sdk,
    per_instance_and_per_thread,
    share_one_client,
    warm_up,
)
from snippets.racy import client_with_config as racy_client_with_config
from snippets.racy import one_client_per_profile as racy_one_client_per_profile
from snippets.racy import optional_sdk as racy_optional_sdk
from snippets.racy import per_instance_and_per_thread as racy_per_instance_and_per_thread
from snippets.racy import share_one_client as racy_share_one_client
from snippets.racy import warm_up as racy_warm_up
from tests.support.overlap import Overlap, call_together

BUILDS = {racy.__name__: 2, fixed.__name__: 1}


def builds_expected(module: ModuleType) -> int:
    """Return how many builds two first callers cause: it is what the folder says."""
    return BUILDS[module.__name__.rpartition(".")[0]]


def forget_instance(module: ModuleType) -> None:
    """Empty the module's global, dict, slot or accessor, whichever it has."""
    for name, value in list(vars(module).items()):
        if name in ("_client", "_sdk"):
            setattr(module, name, None)
        elif isinstance(value, KeyedSlots):
            value.reset_all()
        elif isinstance(value, SingletonSlot):
            value.reset()
        elif isinstance(value, FunctionType) and "reset" in vars(value):
            vars(value)["reset"]()
        elif name == "_clients":
            setattr(module, name, {})


@pytest.fixture
def module(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """Return the snippet under test, without an instance before and after."""
    forget_instance(request.param)
    yield request.param
    forget_instance(request.param)


@pytest.mark.learned("two-first-callers")
@pytest.mark.parametrize(
    "module",
    [
        racy_share_one_client,
        share_one_client,
        racy_client_with_config,
        client_with_config,
        racy_one_client_per_profile,
        one_client_per_profile,
        racy_warm_up,
        warm_up,
        double_checked_lock,
    ],
    indirect=True,
)
def test_builds_of_a_client(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """A racy accessor builds twice and a fixed one once, and then both keep what they have."""
    overlap = Overlap()

    def build(client: object, workspace: str = "hermes") -> None:
        vars(client).update(workspace=workspace)
        overlap()

    monkeypatch.setattr(module.Client, "__init__", build)
    clients = set(call_together(module.get_client))
    assert overlap.builds == builds_expected(module)
    assert module.get_client() in clients
    assert overlap.builds == builds_expected(module)


@pytest.mark.parametrize("module", [racy_optional_sdk, optional_sdk], indirect=True)
def test_installs_of_an_sdk(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """A racy loader installs twice and a fixed one once."""
    overlap = Overlap()
    monkeypatch.setattr(module, "ensure", overlap)
    monkeypatch.setitem(sys.modules, "some_sdk", ModuleType("some_sdk"))
    (sdk,) = set(call_together(module.load_sdk))
    assert module.load_sdk() is sdk
    assert overlap.builds == builds_expected(module)


@pytest.mark.learned("one-for-each-object")
@pytest.mark.parametrize(
    "module", [racy_per_instance_and_per_thread, per_instance_and_per_thread], indirect=True
)
def test_daemons_of_a_provider(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """A racy provider starts two daemons and a fixed one starts one."""
    overlap = Overlap()

    def start(_daemon: object) -> None:
        overlap()

    monkeypatch.setattr(module.Daemon, "__init__", start)
    provider = module.Provider()
    daemons = set(call_together(provider.daemon))
    assert provider.daemon() in daemons
    assert overlap.builds == builds_expected(module)
