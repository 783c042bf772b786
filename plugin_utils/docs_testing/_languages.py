"""What each language of a block does when it is run, but for Python: `_child` runs that."""

from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name

from plugin_utils.docs_testing._block import BlockError, Job
from plugin_utils.docs_testing._data import DATA, check_data, check_markdown
from plugin_utils.docs_testing._shell import run_bash, run_console

__all__ = ("run",)


PYTHON = frozenset({"pycon", "python"})
"""What the block's process runs without any help."""


def run(file: str) -> None:
    """Run the block of a job in this process, in its working directory.

    Raises:
        BlockError: The block is not as the page says.
        BaseException: What the block itself raised.
    """
    job = Job.load(file)
    language = job.block.language
    if job.loader:
        if language in DATA:
            _data(job)
        _load(job)
    elif language in RUNS:
        RUNS[language](job)
    else:
        known = ", ".join(sorted(PYTHON.union(RUNS)))
        message = (
            f"a {language!r} block is not tested, so it may be wrong. Tested are: {known}. "
            "Name a function for it with the option docs_loaders, or mark it not_run('...')."
        )
        raise BlockError(job.block.place, message)


def _load(job: Job) -> None:
    """Hand the block, as a file of the name that the page shows, to the project's function."""
    file = Path(Path(job.block.title).name)
    file.write_text(job.block.code, "utf-8")
    load: Callable[[Path], object] = resolve_name(job.loader or "")
    load(file.resolve())


def _bash(job: Job) -> None:
    run_bash(job.block.code, job.block.lines, Path(job.folder))


def _console(job: Job) -> None:
    run_console(job.block.code, job.block.lines, Path(job.folder))


def _data(job: Job) -> None:
    check_data(job.block.language, job.block.code, job.block.lines)


def _markdown(job: Job) -> None:
    check_markdown(job.block.code, job.block.lines, Path(job.config))


def _mermaid(job: Job) -> None:
    """Accept the diagram: only a browser can tell whether it renders."""


def _text(job: Job) -> None:
    message = (
        "a text block is compared with the block above it if it is titled 'Output' or marked "
        "<!--pytest-codeblocks:expected-output-->; this one is neither, so nothing tests it"
    )
    raise BlockError(job.block.place, message)


RUNS: dict[str, Callable[[Job], None]] = {
    **dict.fromkeys(DATA, _data),
    "bash": _bash,
    "console": _console,
    "markdown": _markdown,
    "mermaid": _mermaid,
    "text": _text,
}
