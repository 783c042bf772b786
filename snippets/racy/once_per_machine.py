"""Two processes, each with a lazy singleton, and the model is downloaded twice."""

from __future__ import annotations

import multiprocessing
from multiprocessing.synchronize import Barrier
from pathlib import Path

from plugin_utils import lazy_singleton

MODEL = Path("model.bin")
DOWNLOADS = Path("downloads.log")
downloading: Barrier  # set in each process


@lazy_singleton
def get_model() -> bytes:
    """Return the model, downloaded if it is not on this machine yet."""
    if not MODEL.exists():
        downloading.wait(timeout=30)  # as slow as a network: until both processes are here
        with DOWNLOADS.open("a") as log:
            log.write("downloaded\n")
        MODEL.write_bytes(b"the model")
    return MODEL.read_bytes()


def work(barrier: Barrier) -> None:
    """Use the model in a process of its own."""
    global downloading
    downloading = barrier
    get_model()


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(2)
    processes = [context.Process(target=work, args=(barrier,)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=60)
    downloads = DOWNLOADS.read_text().splitlines()
    assert len(downloads) == 1, f"{len(downloads)} processes downloaded the model"
