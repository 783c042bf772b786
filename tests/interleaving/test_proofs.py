"""The promises about threads, proved over every schedule that matters."""

from __future__ import annotations

import pytest

import plugin_utils
from plugin_utils import SingletonError
from plugin_utils.testing.interleaving import explore
from tests.interleaving import models

# The calls, whether there is an instance before, and how many kinds of schedule there are at least.
USES = [
    ("get get", False, 26),
    ("get reset", True, 5),
    ("get reset", False, 24),
    ("get peek reset", True, 14),
    ("get get reset", True, 177),
    ("reset expected", True, 24),
    ("expected expected", True, 24),
]


@pytest.mark.parametrize("face", ["slot", "accessor"])
@pytest.mark.parametrize(("ops", "built", "schedules"), USES)
def test_every_schedule_of(face: str, ops: str, built: bool, schedules: int) -> None:
    """Whole instances, built once and closed once, however the threads take turns."""
    result = explore(models.use(plugin_utils, face, ops, built=built))
    assert result.proved, result
    assert result.schedules >= schedules


@pytest.mark.parametrize(
    ("face", "ops", "schedules"),
    [
        ("slot", "get get get", 3171),
        ("slot", "get get reset", 3240),
        ("accessor", "get get get", 3252),
        ("accessor", "get get reset", 3384),
    ],
)
@pytest.mark.timeout(300)
def test_every_schedule_of_three_first_calls(face: str, ops: str, schedules: int) -> None:
    """The same for three threads at an empty slot: thousands of schedules."""
    result = explore(models.use(plugin_utils, face, ops, built=False), seconds=250)
    assert result.proved, result
    assert result.schedules >= schedules


def test_every_schedule_of_a_failing_build() -> None:
    """One thread gets the error of its own try, and both get the instance in the end."""
    result = explore(models.failing(plugin_utils), bound=1)
    assert result.proved, result
    assert result.schedules > 10


def test_every_schedule_of_a_close_that_uses_the_slot() -> None:
    """`close` runs when the slot is empty and free."""
    result = explore(models.closing(plugin_utils))
    assert result.proved, result
    assert result.schedules > 10


def test_every_schedule_of_a_finaliser_that_uses_the_slot() -> None:
    """The last reference goes when the slot is free."""
    result = explore(models.finalised(plugin_utils))
    assert result.proved, result
    assert result.schedules > 1


def test_every_schedule_of_a_chain() -> None:
    """Slots that need each other without a circle: no false report."""
    result = explore(models.chain(plugin_utils))
    assert result.proved, result
    assert result.schedules > 20


@pytest.mark.parametrize(("length", "bound", "schedules"), [(2, 2, 3000), (3, 1, 1000)])
@pytest.mark.timeout(300)
def test_a_circle_is_reported(length: int, bound: int, schedules: int) -> None:
    """Factories that need each other in a circle: somebody gets an error, and nobody hangs."""
    model = models.circle(plugin_utils, length)
    result = explore(model, bound=bound, allow=(SingletonError,), seconds=250)
    assert result.proved, result
    assert result.schedules >= schedules


@pytest.mark.parametrize(
    ("ops", "max_size"),
    [
        ("get:a get:a", None),
        ("get:a get:b", None),
        ("get:a reset:a", None),
        ("get:a get:b", 1),
    ],
)
def test_keyed_slots(ops: str, max_size: int | None) -> None:
    """One instance a key, and nothing left behind, with at most one forced switch."""
    result = explore(models.keyed(plugin_utils, ops, max_size=max_size), bound=1)
    assert result.proved, result
    assert result.schedules > 20
