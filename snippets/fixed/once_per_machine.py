"""A lock file between the processes, inside the lazy singleton of each."""

from __future__ import annotations

import multiprocessing
from multiprocessing.synchronize import Barrier
from pathlib import Path

from filelock import FileLock

from plugin_utils import lazy_singleton

MODEL = Path("model.bin")
DOWNLOADS = Path("downloads.log")


@lazy_singleton
def get_model() -> bytes:
    """Return the model, downloaded if it is not on this machine yet."""
    with FileLock("model.lock", timeout=60):
        if not MODEL.exists():  # looked at again: another process may have been faster
            with DOWNLOADS.open("a") as log:
                log.write("downloaded\n")
            part = MODEL.with_suffix(".part")
            part.write_bytes(b"the model")
            part.replace(MODEL)  # whole or not at all, even if the process dies while it writes
    return MODEL.read_bytes()


def work(start: Barrier) -> None:
    """Use the model in a process of its own."""
    start.wait(timeout=30)
    assert get_model() == b"the model"


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(2)
    processes = [context.Process(target=work, args=(start,)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=60)
    assert [process.exitcode for process in processes] == [0, 0]
    assert DOWNLOADS.read_text().splitlines() == ["downloaded"]
