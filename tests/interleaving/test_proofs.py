"""The promises about threads, proved over every schedule that matters."""

import pytest

from tests.interleaving.proofs import PROOFS, Proof


@pytest.mark.timeout(1800)  # a busy machine and a free-threaded Python make minutes of seconds
@pytest.mark.parametrize(
    "proof", [pytest.param(p, marks=pytest.mark.promise(*p.promises), id=str(p)) for p in PROOFS]
)
def test_every_schedule(proof: Proof) -> None:
    """Whole instances, built once and closed once, and no hang, however the threads take turns."""
    result = proof.run(seconds=1700)
    assert result.proved, result
    assert result.schedules >= proof.schedules
