"""Run blocks from pytest's side: folders, environment, time limit, report."""

import fnmatch
import marshal
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from plugin_utils.docs_testing import _languages
from plugin_utils.docs_testing._block import Block, BlockError, Job, Outcome, Report
from plugin_utils.docs_testing._forkserver import Starter, starter
from plugin_utils.docs_testing._judge import judge, wrong_output
from plugin_utils.docs_testing._marks import Plan, compiled
from plugin_utils.docs_testing._python import (
    check_session,
    compile_block,
    compile_session,
    session,
)

__all__ = ("Options", "Runner", "environment")

# What a reader's shell does not have: the settings of the services that the guide's own plugins
# use, the folders that take the place of a home, and what pytest tells the tests that it runs.
UNSET = ("FAL_KEY", "HERMES_*", "HONCHO_*", "PYTEST_*", "XDG_*_HOME")
WRONG_RUNS = 5
"""How often a block that races or leaks on purpose has to go wrong, in as many processes."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the project's pytest configuration says."""

    base: Path
    limit: float
    unset: Sequence[str] = ()
    path: Sequence[str] = ()
    """Folders to import from, besides the project root."""
    loaders: Mapping[str, str] = field(default_factory=dict[str, str])
    """A function, as `module:function`, for each pattern of a title."""


class Runner:
    """Runs the blocks of a test session, one at a time."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._starters: dict[str, Starter] = {}
        self._folder = Path(tempfile.mkdtemp(prefix="docs-testing-")).resolve()

    def run(self, block: Block, plan: Plan, config: Path) -> Report:
        """Run the block as often as its marks ask, and report the run that decides.

        Args:
            block: The block.
            plan: What its marks come to.
            config: The `mkdocs.yml` of its site.
        """
        on_purpose = plan.wrong is not None and plan.wrong.kind != "hangs"
        report = self._run_once(block, plan, config)
        for _ in range(WRONG_RUNS - 1 if on_purpose else 0):
            if report.verdict == "passed":
                report = self._run_once(block, plan, config)
        return report

    def close(self) -> None:
        """End what is still running and remove the temporary folders."""
        for each in self._starters.values():
            each.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run_once(self, block: Block, plan: Plan, config: Path) -> Report:
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        for name in ("home", "tmp", "work"):
            (folder / name).mkdir()
        job = self._job(block, plan, config, folder)
        try:
            return self._result(job, plan)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _job(self, block: Block, plan: Plan, config: Path, folder: Path) -> Job:
        if plan.runs_as is not None:
            block = _substitute(block, plan.runs_as)
        limit = plan.wrong and plan.wrong.within
        loaders = self._options.loaders.items()
        return Job(
            block=block,
            config=str(config),
            base=str(self._options.base),
            folder=str(folder),
            environ=environment(config.parent, folder, self._options),
            limit=limit or self._options.limit,
            in_root=plan.runs_as is not None,
            loader=next(
                (run for title, run in loaders if fnmatch.fnmatch(block.title, title)), None
            ),
        )

    def _result(self, job: Job, plan: Plan) -> Report:
        try:
            file = _prepare(job)
        except BlockError as error:
            return Report("failed", str(error))
        began = time.monotonic()
        status = self._starter(job).run(file, job.limit)
        took = time.monotonic() - began
        report = _judged(job)
        if report is None or (status and report.verdict != "failed"):
            report = _ended(job, plan, status, took)
        return replace(report, stdout=_read(job, "stdout"), stderr=_read(job, "stderr"))

    def _starter(self, job: Job) -> Starter:
        """Return what starts the block: from nothing if it is Python, which would see the rest."""
        plain = job.block.language in ("pycon", "python") and not job.loader
        preload = "sys" if plain else _languages.__name__
        if preload not in self._starters:
            environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
            self._starters[preload] = starter(environ, preload)
        return self._starters[preload]


def _prepare(job: Job) -> Path:
    """Write down what the block's process has to know, in a form that needs no module to read."""
    block, folder = job.block, Path(job.folder)
    above = block.lines[0].line - 1
    # A spawned process imports this file, so it has to be Python; its lines are those of the page.
    copy = folder / f"{Path(block.page).stem}.py"
    copy.write_text("\n" * above + block.code, "utf-8")
    marks = [compiled(mark) for mark in block.marks]
    marked = any(mark.name in ("goes_wrong", "xfail") for mark in marks)
    prompts = parts = None
    if _has_prompts(job):
        prompts = compile_session(block.code, block.lines)
    elif block.language == "python" and not job.loader:
        details = block.expected_output is None and not marked
        parts = compile_block(block.code, block.lines, details=details)
    known = {
        "job": str(job.save()),
        "folder": job.folder,
        "base": job.base,
        "start": str(Path(job.config).parent if job.in_root else folder / "work"),
        "environ": job.environ,
        "limit": job.limit,
        "copy": str(copy),
        "place": str(block.place),
        "marks": [tuple(mark) for mark in marks],
        "needs": block.importorskip,
        "session": prompts,
        "parts": parts,
    }
    file = folder / "process"
    file.write_bytes(marshal.dumps(known))
    return file


def _has_prompts(job: Job) -> bool:
    block = job.block
    asked = block.language == "pycon" or (block.language == "python" and session(block.code))
    return asked and not job.loader


def _judged(job: Job) -> Report | None:
    """Judge a block by what its process left; nothing, if that came to no end."""
    file = Path(job.folder, "outcome")
    if not file.exists():
        return None
    outcome = Outcome(**marshal.loads(file.read_bytes()))
    mismatch = wrong_output(job.block, _read(job, "stdout"))
    if _has_prompts(job):
        mismatch += check_session(job.block.code, job.block.lines, outcome.said)
    return judge(job.block, outcome, _read(job, "late").encode(), mismatch)


def environment(root: Path, folder: Path, options: Options) -> dict[str, str]:
    """Return the environment of a block: that of pytest, but with a home of its own.

    `DOCS_ROOT` is the project root. `python` is the interpreter that runs pytest, and finds what
    pytest finds; the services' settings (`UNSET`, and the option `docs_unset_env`) are gone.
    """
    unset = (*UNSET, *options.unset)
    kept = {
        name: value
        for name, value in os.environ.items()
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in unset)
    }
    path = [str(root), *options.path, *filter(None, [kept.get("PYTHONPATH")])]
    home = str(folder / "home")
    return kept | {
        "DOCS_ROOT": str(root),
        "HOME": home,
        "USERPROFILE": home,
        "TMPDIR": str(folder / "tmp"),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", os.defpath)]),
        "PYTHONPATH": os.pathsep.join(path),
    }


def _substitute(block: Block, command: str) -> Block:
    """Put the stated substitute in the block's place; what it is compared with stays."""
    lines = (block.place,) * (command.count("\n") + 1)
    language = "python" if block.language in ("python", "pycon") else "bash"
    return replace(block, code=f"{command}\n", lines=lines, language=language, title="")


def _ended(job: Job, plan: Plan, status: int, took: float) -> Report:
    """Judge a block that did not end as a process should."""
    place = job.block.place
    if took < job.limit:
        return Report("failed", f"{place}: the process ended, with status {status}, in the block")
    if plan.wrong and plan.wrong.kind == "hangs":
        mismatch = wrong_output(job.block, _read(job, "stdout"))
        return Report("failed", str(mismatch[0])) if mismatch else Report("passed")
    message = (
        f"{place}: still running after {job.limit:g} s, so it was ended. What each thread did "
        "stands below, in its standard error. The limit is the option docs_timeout."
    )
    return Report("failed", message)


def _read(job: Job, name: str) -> str:
    file = Path(job.folder, name)
    return file.read_text("utf-8", "replace") if file.exists() else ""
