"""Runs code in a forked child, from within a program that `tests.support.child` watches."""

import os
import traceback
from collections.abc import Callable

__all__ = ("in_fork",)


def in_fork(work: Callable[[], object]) -> None:
    """Run `work` in a forked child, which ends by `os._exit`, and wait for it.

    Raises:
        AssertionError: `work` has raised; the child has printed the traceback.
    """
    child = os.fork()
    if not child:
        status = 1
        try:
            work()
            status = 0
        except BaseException:  # noqa: BLE001 - the child must not go on with the parent's program
            traceback.print_exc()
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert status == 0, "the forked child has failed"
