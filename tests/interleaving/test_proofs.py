"""The promises about threads, proved over every schedule that matters."""

import pytest

from tests.interleaving.proofs import PROOFS, Proof


@pytest.mark.timeout(300)
@pytest.mark.parametrize("proof", PROOFS, ids=str)
def test_every_schedule(proof: Proof) -> None:
    """Whole instances, built once and closed once, and no hang, however the threads take turns."""
    result = proof.run(seconds=250)
    assert result.proved, result
    assert result.schedules >= proof.schedules
