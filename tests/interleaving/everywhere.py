"""Proves all there is on every interpreter, and prints one table: `make proofs`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.interleaving.proofs import DEEP, PROOFS, Proved
from tests.support.interpreters import ROOT, Interpreter, choose, find

__all__ = ("main", "render")


@dataclass(frozen=True)
class Column:
    """What an interpreter has proved."""

    release: str
    proved: Mapping[str, Proved]
    held: bool


def _prove_on(interpreter: Interpreter) -> Column:
    """Run all proofs on an interpreter, in a process that it starts."""
    command = [str(interpreter.executable), "-m", "tests.interleaving.proofs", "--deep"]
    proved: dict[str, Proved] = {}
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        for line in process.stdout:
            one = Proved(*json.loads(line))
            proved[one.proof] = one
            print(f"{interpreter.tag}: {one.proof}: {one.verdict}", file=sys.stderr, flush=True)
    return Column(interpreter.release, proved, process.returncode == 0)


def render(proofs: Sequence[str], columns: Sequence[Column]) -> str:
    """Return the table: for each proof its schedules, whether it holds, and how long it took."""
    heads = [head for one in columns for head in (f"{one.release}: schedules", "proved", "seconds")]
    rows = [[_cells(one.proved.get(proof)) for one in columns] for proof in proofs]
    return "\n".join(
        [
            f"| threads | {' | '.join(heads)} |",
            f"|---|{'---:|---|---:|' * len(columns)}",
            *(
                f"| `{proof}` | {' | '.join(row)} |"
                for proof, row in zip(proofs, rows, strict=True)
            ),
        ]
    )


def _cells(proved: Proved | None) -> str:
    if proved is None:
        return " | no | "
    verdict = proved.verdict.partition("\n")[0]
    return f"{proved.schedules:,} | {verdict} | {proved.seconds:.1f}"


def main() -> int:
    """Print the table, and return 1 if something is not proved somewhere."""
    interpreters = choose([each for each in find() if isinstance(each, Interpreter)]).values()
    columns = [_prove_on(interpreter) for interpreter in interpreters]
    print(render([str(proof) for proof in PROOFS + DEEP], columns))
    return 0 if columns and all(column.held for column in columns) else 1


if __name__ == "__main__":
    sys.exit(main())
