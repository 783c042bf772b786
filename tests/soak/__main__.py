"""Everything at once, for minutes, on every Python found: `make soak`.

A seeded generator mixes get, lease, peek, reset, keys, evictions, failing builds and event loops.
It goes on in rounds. After each round everything is dropped, and the books must balance: what was
built is closed, no socket or thread is left, and memory does not grow. Two wrong forms come first:
if the generator sees nothing wrong with them, its silence about ours would mean nothing.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import platform
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

from plugin_utils.testing import reset_all
from tests.soak.generator import run_threads, work, work_on_loops
from tests.soak.ledger import Ledger
from tests.soak.targets import broken_forms, forms
from tests.support.interpreters import ROOT, Interpreter, choose, find

__all__ = ("main",)

ROUND = 5.0
"""Seconds that a round takes."""
PATIENCE = 180.0
"""Seconds that all rounds together may take longer than they are meant to."""
THREADS = 4
LOOPS = 2
SETTLED = 2
"""Rounds until caches are full: memory is compared with what it is then."""
GROWTH = 500
"""Blocks of memory that may be more at the end. One leaked per round in any form is far less than
one per operation, of which there are tens of thousands."""


class Level(NamedTuple):
    """What is in use between two rounds."""

    files: int
    threads: int
    blocks: int

    @classmethod
    def now(cls) -> Level:
        """Count, after everything unreachable is gone."""
        for _ in range(3):
            gc.collect()
        files = len(list(Path("/proc/self/fd").iterdir()))
        return cls(files, threading.active_count(), sys.getallocatedblocks())


def one_round(ledger: Ledger, seed: str, seconds: float) -> None:
    """Let threads and loops at fresh forms, then drop everything."""
    made = forms(ledger, Random(seed))
    end = time.monotonic() + seconds
    threads = [
        partial(work, made, ledger, Random(f"{seed} thread {each}"), end) for each in range(THREADS)
    ]
    loops = [
        partial(work_on_loops, ledger, Random(f"{seed} loop {each}"), end) for each in range(LOOPS)
    ]
    run_threads([*threads, *loops], ledger)
    reset_all()
    built, closed = ledger.counts["built"], ledger.counts["closed"]
    if built != closed:
        ledger.violation(f"{built} built, {closed} closed")


def sees_what_is_wrong(seed: str, seconds: float) -> bool:
    """Put the wrong forms to the generator, and tell whether it sees what is wrong with each."""
    all_seen = True
    for form, wrong in broken_forms(ledger := Ledger(), Random(seed)):
        end = time.monotonic() + seconds
        workers = [
            partial(work, [form], ledger, Random(f"{seed} thread {each}"), end)
            for each in range(THREADS)
        ]
        run_threads(workers, ledger)
        seen = ledger.violations[wrong]
        all_seen = all_seen and seen > 0
        print(f"  wrong on purpose, {form.label}: {wrong}: {seen:,} times", flush=True)
    return all_seen


def soak_here(minutes: float, seed: str) -> int:
    """Run on this interpreter, print what was done, and return 1 if anything was wrong."""
    # A hang ends the process, with the stacks of all threads.
    faulthandler.dump_traceback_later(60 * minutes + PATIENCE, exit=True)
    sees = sees_what_is_wrong(seed, min(2.0, 6 * minutes))
    ledger = Ledger()
    start = Level.now()
    levels: list[Level] = []
    end = time.monotonic() + 60 * minutes
    while time.monotonic() < end or len(levels) <= SETTLED:
        one_round(ledger, f"{seed} round {len(levels)}", min(ROUND, 6 * minutes))
        levels.append(Level.now())
    before, after = levels[SETTLED - 1], levels[-1]
    grown = after.blocks - before.blocks
    leaks = {
        "sockets": after.files - start.files,
        "threads": after.threads - start.threads,
        "blocks of memory above the limit": max(0, grown - GROWTH),
    }
    print(f"  {len(levels)} rounds:", *(f"{n:,} {what}," for what, n in ledger.counts.items()))
    print(f"  memory: {before.blocks:,} blocks, at the end {after.blocks:,} ({grown:+,})")
    for what, number in (*ledger.violations.items(), *leaks.items()):
        print(f"  {'VIOLATION' if number else 'leaked'}: {what}: {number:,}")
    total = sum(ledger.violations.values())
    print(f"  violations: {total}", flush=True)
    faulthandler.cancel_dump_traceback_later()
    return int(not sees or total > 0 or any(leaks.values()))


def main(arguments: list[str]) -> int:
    """Run on each interpreter, one after another."""
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="on each interpreter")
    parser.add_argument("--seed", default="1", help="decides the order of operations")
    parser.add_argument("--here", action="store_true", help="on this interpreter only")
    options = parser.parse_args(arguments)
    if options.here:
        print(f"{platform.python_version()}, seed {options.seed}, {options.minutes:g} min")
        return soak_here(options.minutes, options.seed)
    worst = 0
    for interpreter in choose([each for each in find() if isinstance(each, Interpreter)]).values():
        print(f"== {interpreter}", flush=True)
        here = ["-m", "tests.soak", "--here", "--seed", options.seed]
        command = [str(interpreter.executable), *here, "--minutes", str(options.minutes)]
        worst = max(worst, subprocess.run(command, cwd=ROOT, check=False).returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
