"""The table of what is proved."""

from pathlib import Path

from tests.interleaving.everywhere import Column, render
from tests.interleaving.proofs import DEEP, PROOFS, Proved

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "proofs.md"


def test_page_has_every_proof() -> None:
    """The page shows the proofs that there are, in their order, and claims nothing else."""
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == [str(proof) for proof in PROOFS + DEEP]
    assert all(" no " not in row for row in rows)


def test_no_proof_has_the_name_of_another() -> None:
    """A row of the table is found by its name."""
    names = [str(proof) for proof in PROOFS + DEEP]
    assert len(set(names)) == len(names)


def test_columns_of_each_interpreter_stand_side_by_side() -> None:
    """A row has what each interpreter found, and says where one found nothing."""
    held = Column("3.11", {"a || b": Proved("a || b", 1200, "yes", 0.25)}, held=True)
    failed = Column("3.13t", {"a || b": Proved("a || b", 2, "torn\n\nT0", 1.0)}, held=False)
    ended = Column("3.14", {}, held=False)
    *_, row = render(["a || b"], [held, failed, ended]).splitlines()
    assert row == "| `a || b` | 1,200 | yes | 0.2 | 2 | torn | 1.0 |  | no |  |"
