"""A forked child starts over: the parent's loops, builds and instances are not its own."""

import subprocess
import sys

import pytest

from tests.aio import forking
from tests.support.loops import LIMIT

CLOSED, FINALISED = "closed by its maker", "finalised by its maker"


def _output_of(function: str) -> list[str]:
    """Return what a function of `forking` prints in a new interpreter, warnings being errors."""
    code = f"from {forking.__name__} import {function}; {function}()"
    # Newer Pythons warn of a fork beside other threads, which one of these is about.
    options = ["-W", "error", "-W", "ignore:This process:DeprecationWarning"]
    done = subprocess.run(
        [sys.executable, *options, "-c", code],
        capture_output=True,
        text=True,
        timeout=2 * LIMIT,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.mark.promise(12, 28)
def test_child_builds_its_own() -> None:
    """Parent and child each close what they built; nobody finalises what the other did."""
    each = [CLOSED, FINALISED]
    assert _output_of(forking.child_builds_its_own.__name__) == [*each, *each]


@pytest.mark.promise(12, 28)
def test_child_builds_its_own_for_all_loops() -> None:
    """So it is with an instance that is bound to no loop; the parent's is not closed here."""
    output = _output_of(forking.child_builds_its_own_for_all_loops.__name__)
    assert output == [CLOSED, FINALISED, FINALISED]


@pytest.mark.promise(12)
def test_child_keeps_what_it_is_told_to() -> None:
    """`fork="keep"` hands the parent's instance on, and the child never closes it."""
    output = _output_of(forking.child_keeps_the_parents.__name__)
    assert output
    assert not any(line.startswith("closed") for line in output)


@pytest.mark.promise(12, 28)
def test_fork_in_the_middle_of_a_build() -> None:
    """The child builds its own at once; the parent's factory goes on in the parent only."""
    output = _output_of(forking.fork_in_the_middle_of_a_build.__name__)
    assert output[:2] == ["True", "unwound in parent"]
    assert set(output[2:]) <= {FINALISED}


@pytest.mark.promise(12, 28)
@pytest.mark.learned("lock-held-at-the-fork")
def test_fork_while_the_lock_is_held() -> None:
    """A lock that another thread held at the fork is a new one in the child."""
    assert _output_of(forking.fork_while_the_lock_is_held.__name__)[0] == "True"


@pytest.mark.promise(12, 28)
def test_fork_inside_a_factory() -> None:
    """In the child the parent's build does not count: to use the accessor there is no recursion."""
    assert _output_of(forking.fork_inside_a_factory.__name__)[:2] == ["True", "True"]


@pytest.mark.promise(12, 28)
def test_fork_inside_a_close() -> None:
    """The child's `aclose` finds nothing that is under way, and does not hang."""
    assert _output_of(forking.fork_inside_a_close.__name__)[:2] == ["False", CLOSED]
