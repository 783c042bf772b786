"""Every test runs on every kind of loop, and must leave asyncio nothing to complain about."""

import asyncio
import gc
import logging
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Protocol, TypeVar

import pytest

from tests.support.loops import LOOPS, run_on

T = TypeVar("T")


class Run(Protocol):
    """What the fixture `run` gives."""

    def __call__(self, main: Coroutine[Any, Any, T], /) -> T:
        """Return what `main` returns, run on a new loop that is closed afterwards."""
        ...


@pytest.fixture(params=LOOPS)
def new_loop(request: pytest.FixtureRequest) -> Callable[[], asyncio.AbstractEventLoop]:
    """Return what makes a loop of the kind in question."""
    return LOOPS[request.param]


@pytest.fixture
def run(new_loop: Callable[[], asyncio.AbstractEventLoop]) -> Run:
    """Return a stand-in for `asyncio.run` that makes loops of the kind in question."""

    def run_main(main: Coroutine[Any, Any, T], /) -> T:
        return run_on(new_loop, main)

    return run_main


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail a test that makes asyncio log something, at the latest when the garbage goes."""
    yield
    gc.collect()
    records = [*caplog.get_records("call"), *caplog.get_records("teardown")]
    told = [each.getMessage() for each in records if each.levelno >= logging.WARNING]
    assert told == []
