"""The proofs that kill the mutants.

`python -m tests.interleaving.killers` prints which one kills which.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from plugin_utils.testing.interleaving import Model, Result, explore
from tests.interleaving import models, models_failure, models_keyed, models_lease
from tests.interleaving.mutants import MUTANTS, mutated

__all__ = ("KILLERS", "fork_leaves_the_gate_held", "judge")

KILLERS: dict[str, Callable[[ModuleType], Model]] = {
    "get get": lambda library: models.use(library, "slot", "get get", built=False),
    "get reset": lambda library: models.use(library, "slot", "get reset", built=True),
    "get reset, empty": lambda library: models.use(library, "slot", "get reset", built=False),
    "finaliser": models.finalised,
    "failing build": models_failure.failing,
    "interrupted build": lambda library: models_failure.failing(library, KeyboardInterrupt),
    "shared failure": models_failure.sharing,
    "setting changes": lambda library: models.outdated(library, 1),
    "one build waits": lambda library: models.independent(library, keyed=False),
    "lease, reset": lambda library: models_lease.leased(library, 1),
    "leases of keys": models_lease.leased_keys,
    "failing key": models_keyed.failing_key,
    "close": models.closing,
    "circle": lambda library: models.circle(library, 2),
}


def judge(library: ModuleType, killer: str) -> Result:
    """Run the named model with at most one forced switch: that is enough for every fault."""
    allowed: dict[str, type[BaseException]] = {
        "circle": library.SingletonError,
        "failing key": ConnectionError,
    }
    allow = (allowed[killer],) if killer in allowed else ()
    parts = [part for name, part in sys.modules.items() if name.startswith(f"{library.__name__}.")]
    return explore(
        KILLERS[killer](library), watch=[library, *parts], bound=1, allow=allow, seconds=550
    )


def fork_leaves_the_gate_held(number: int, folder: str, held: int) -> None:
    """Fork while another thread builds, and compare whether the child finds the gate held.

    Args:
        number: Of the mutant; -1 for the library itself.
        folder: Where to put the mutant.
        held: What is expected: 1 or 0.
    """
    import os
    import threading
    from contextlib import nullcontext
    from pathlib import Path
    from typing import Any

    import plugin_utils
    from tests.interleaving.mutants import MUTANTS, mutated

    mutant = mutated(MUTANTS[number], Path(folder)) if number >= 0 else nullcontext(plugin_utils)
    with mutant as package:
        library: Any = package
        slot = library.SingletonSlot(name="slot")
        building, forked = threading.Event(), threading.Event()

        def build() -> object:
            building.set()
            return forked.wait(10)

        thread = threading.Thread(target=slot.get, args=(build,))
        thread.start()
        assert building.wait(10)
        pid = os.fork()
        if pid == 0:
            os._exit(not slot._gate._lock.acquire(blocking=False))
        forked.set()
        thread.join(10)
        _, status = os.waitpid(pid, 0)
        assert os.waitstatus_to_exitcode(status) == held


def main() -> None:
    """Print which proof kills which mutant, after how many schedules, and how."""
    print("| fault | killed by | schedules | what was seen |")
    print("|---|---|---:|---|")
    for mutant in MUTANTS:
        if mutant.killer not in KILLERS:
            print(f"| {mutant.fault} | {mutant.killer} | | the child finds the gate held |")
            continue
        with tempfile.TemporaryDirectory() as folder, mutated(mutant, Path(folder)) as library:
            result = judge(library, mutant.killer)
        seen = (result.failure or "SURVIVES").splitlines()[0]
        print(f"| {mutant.fault} | {mutant.killer} | {result.schedules} | {seen} |")


if __name__ == "__main__":
    main()
