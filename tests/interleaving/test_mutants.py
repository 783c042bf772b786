"""The proofs are worth something: each fails on the fault that it is there for."""

from __future__ import annotations

from pathlib import Path

import pytest

import plugin_utils
from tests.interleaving.killers import KILLERS, fork_leaves_the_gate_held, judge
from tests.interleaving.mutants import MUTANTS, Mutant, mutated
from tests.support import child

pytestmark = pytest.mark.timeout(600)  # as for the proofs: seconds, unless the machine is busy
EXPLORED = [mutant for mutant in MUTANTS if mutant.killer in KILLERS]


@pytest.mark.parametrize("killer", KILLERS)
def test_the_library_survives(killer: str) -> None:
    """What kills the mutants lets the library itself live."""
    result = judge(plugin_utils, killer)
    assert result.proved, result


@pytest.mark.parametrize("mutant", EXPLORED, ids=str)
def test_a_proof_kills(mutant: Mutant, tmp_path: Path) -> None:
    """The named proof fails on the mutant."""
    with mutated(mutant, tmp_path) as library:
        assert judge(library, mutant.killer).failure is not None


def test_a_fork_test_kills_the_lock_that_is_not_renewed(tmp_path: Path) -> None:
    """A child that inherits a held gate finds it held, unless the gate is renewed."""
    mutant = next(mutant for mutant in MUTANTS if mutant.killer == "fork")
    child.run(fork_leaves_the_gate_held, MUTANTS.index(mutant), str(tmp_path), 1)
    child.run(fork_leaves_the_gate_held, -1, str(tmp_path), 0)


def test_every_fault_has_its_killer() -> None:
    """No mutant is left out."""
    assert {mutant.killer for mutant in MUTANTS} == {*KILLERS, "fork"}


def test_a_mutation_that_no_longer_applies_is_reported(tmp_path: Path) -> None:
    """When the library is rewritten, its mutants have to be as well."""
    stale = Mutant("stale", "_gate", "no such passage", "", "get get")
    with (
        pytest.raises(AssertionError, match="has its passage 0 times"),
        mutated(stale, tmp_path),
    ):
        pass
