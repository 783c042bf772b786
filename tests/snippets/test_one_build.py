"""Two threads call first, and the first build goes on until a second one begins, if it does."""

from types import ModuleType

import pytest

from snippets import fixed, racy
from snippets.fixed import (
    client_with_config,
    double_checked_lock,
    optional_sdk,
    share_one_client,
    warm_up,
)
from snippets.racy import client_with_config as racy_client_with_config
from snippets.racy import optional_sdk as racy_optional_sdk
from snippets.racy import share_one_client as racy_share_one_client
from snippets.racy import warm_up as racy_warm_up
from tests.support.overlap import Overlap, call_together

BUILDS = {racy.__name__: 2, fixed.__name__: 1}


def builds_expected(module: ModuleType) -> int:
    """Return how many builds two first callers cause: it is what the folder says."""
    return BUILDS[module.__name__.rpartition(".")[0]]


def forget_instance(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start without an instance, and end as before."""
    for name in ("_client", "_sdk"):
        if name in vars(module):
            monkeypatch.setattr(module, name, None)
    for name in ("get_client", "load_sdk", "_client_slot"):
        reset = getattr(vars(module).get(name), "reset", None)
        if reset is not None:
            reset()


@pytest.mark.parametrize(
    "module",
    [
        racy_share_one_client,
        share_one_client,
        racy_client_with_config,
        client_with_config,
        racy_warm_up,
        warm_up,
        double_checked_lock,
    ],
)
def test_builds_of_a_client(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """A racy accessor builds twice and a fixed one once, and then both keep what they have."""
    overlap = Overlap()

    def build(client: object, workspace: str = "hermes") -> None:
        vars(client).update(workspace=workspace)
        overlap()

    forget_instance(module, monkeypatch)
    monkeypatch.setattr(module.Client, "__init__", build)
    clients = set(call_together(module.get_client))
    assert overlap.builds == builds_expected(module)
    assert len(clients) == overlap.builds
    assert module.get_client() in clients
    assert overlap.builds == builds_expected(module)
    forget_instance(module, monkeypatch)


@pytest.mark.parametrize("module", [racy_optional_sdk, optional_sdk])
def test_installs_of_an_sdk(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """A racy loader installs twice and a fixed one once."""
    overlap = Overlap()
    forget_instance(module, monkeypatch)
    monkeypatch.setattr(module, "ensure", overlap)
    (sdk,) = set(call_together(module.load_sdk))
    assert module.load_sdk() is sdk
    assert overlap.builds == builds_expected(module)
