"""Run one block: the whole life of its process.

The process ends as any Python process does, and the report is written on the way out: threads that
are still running are waited for first, as the interpreter does, so that their failures count.
"""

import atexit
import builtins
import faulthandler
import json
import os
import signal
import sys
import threading
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from types import ModuleType
from typing import cast

from plugin_utils.docs_testing import _languages
from plugin_utils.docs_testing._block import BlockError, Job, Report
from plugin_utils.docs_testing._judge import judge, skip_reason

__all__ = ("main",)


def main(file: str) -> None:
    """Run the block of a job file; call it last in a process that is used for nothing else."""
    job = Job.load(file)
    _enter(job)
    try:
        reason = skip_reason(job.block)
    except BlockError as error:
        return _report(job, Report("failed", str(error)))
    if reason is not None:
        return _report(job, Report("skipped", reason))
    names = _become_main(job)
    failures = _watch()
    # The first function to be registered is the last to be called: whatever the block registers,
    # and the interpreter's own wait for threads, comes before it.
    atexit.register(_finish, job, names, failures)
    with suppress(AttributeError):  # a process that the block forks, where there is fork, has none
        os.register_at_fork(after_in_child=partial(atexit.unregister, _finish))
    process = os.getpid()
    try:
        _languages.run(job, names)
    except BaseException as error:  # whatever the block raises is its result
        if os.getpid() != process:
            raise  # in a process that the block forked, an error is that process's own
        if not isinstance(error, SystemExit) or error.code not in (None, 0):
            failures.insert(0, error)


def _enter(job: Job) -> None:
    """Take on the job's folders, outputs and time limit."""
    folder = Path(job.folder)
    for number, file in enumerate((os.devnull, str(folder / "stdout"), str(folder / "stderr"))):
        opened = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    for stream in (sys.stdout, sys.stderr):  # what a reader's terminal does
        cast("TextIOWrapper", stream).reconfigure(line_buffering=True)
    _arm(job.limit)
    os.environ.clear()
    os.environ.update(job.environ)
    path = job.environ["PYTHONPATH"].split(os.pathsep)
    sys.path[1:1] = [entry for entry in path if entry not in sys.path]
    os.chdir(job.base)  # so that a place in a message is shown as seen from there


def _arm(limit: float) -> None:
    """Have the process end itself after so many seconds, with the stack of each thread.

    A timer does it: the watchdog of `faulthandler` is a thread, and a process that the block forks
    would wait for that thread, which it does not have, when it ends. Where there is no timer,
    pytest ends the process a little later, without the stacks.
    """
    faulthandler.enable(file=2)
    if hasattr(signal, "setitimer"):
        faulthandler.register(signal.SIGALRM, file=2, chain=True)
        signal.setitimer(signal.ITIMER_REAL, limit)


def _become_main(job: Job) -> dict[str, object]:
    """Make this process one that was started to run the block."""
    above = job.block.lines[0].line - 1
    # A spawned process imports this file, so it has to be Python; its lines are those of the page.
    copy = Path(job.folder, f"{Path(job.block.page).stem}.py")
    copy.write_text("\n" * above + job.block.code, "utf-8")
    module = ModuleType("__main__")
    module.__file__ = str(copy)
    vars(module)["__builtins__"] = builtins
    sys.modules["__main__"] = module
    sys.argv = [str(copy)]
    os.chdir(Path(job.config).parent if job.in_root else Path(job.folder, "work"))
    return vars(module)


def _watch() -> list[BaseException]:
    """Collect what Python can only report: a thread's error, and an error in `__del__`."""
    failures: list[BaseException] = []

    def in_thread(lost: threading.ExceptHookArgs) -> None:
        if not isinstance(lost.exc_value, SystemExit | None):
            failures.append(lost.exc_value)

    def unraisable(lost: "sys.UnraisableHookArgs") -> None:
        failures.extend(error for error in [lost.exc_value] if error is not None)

    threading.excepthook = in_thread
    sys.unraisablehook = unraisable
    return failures


def _finish(job: Job, names: dict[str, object], failures: list[BaseException]) -> None:
    with suppress(ValueError):  # the block may have closed it
        sys.stdout.flush()
    os.chdir(job.base)
    printed = Path(job.folder, "stdout").read_text("utf-8", "replace")
    try:
        report = judge(job.block, failures, printed, names)
    except BlockError as error:
        report = Report("failed", str(error))
    _report(job, report)
    # Nothing of the block is left to run. Taking the interpreter apart would copy the memory that
    # is shared with the server, which takes three times as long as all the rest.
    os._exit(0)


def _report(job: Job, report: Report) -> None:
    Path(job.folder, "report.json").write_text(json.dumps(asdict(report)), "utf-8")
