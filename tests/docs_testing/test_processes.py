"""The processes that blocks run in, and how they end."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plugin_utils.docs_testing import _child, _forkserver
from plugin_utils.docs_testing._forkserver import ForkServer, Spawner, starter
from plugin_utils.docs_testing._runner import Options
from tests.docs_testing import sites
from tests.docs_testing.sites import Bench

HANG = """\
# T

```python
import threading
held = open({pipe!r}, "wb", buffering=0)
held.write(b"!")
threading.Event().wait()
```
"""
# What a shell starts in the background ignores Ctrl-C, and so would all that it starts.
HEEDING_CTRL_C = """
import signal, sys, pytest
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(pytest.console_main())
"""


@contextmanager
def pipe_that_is_let_go(pipe: Path) -> Generator[int]:
    """Make a named pipe for a block to open; give its read end; afterwards nobody may hold it."""
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield reader
        assert read(reader) == b"", "a process of the block is still there"
    finally:
        os.close(reader)


def read(reader: int) -> bytes:
    """Read what was written, or nothing once the last writer is gone; fail if neither happens."""
    ready, _, _ = select.select([reader], [], [], 20)
    assert ready, "nothing was written, and somebody still may"
    return os.read(reader, 10)


LEFT = {
    "bash": "exec 3>{pipe}\nsleep 1000 &",
    "bash, with job control": "exec 3>{pipe}\nset -m\nsleep 1000 &",
    "console": "$ exec 3>{pipe}\n$ setsid sleep 1000 &",
    "python": """
import subprocess
with open("{pipe}", "w") as pipe:
    command = ["sh", "-c", "setsid sleep 1000 & exec sleep 1000"]
    subprocess.Popen(command, stdout=pipe, start_new_session=True)
""",
}


@pytest.mark.parametrize("kind", LEFT)
def test_what_a_block_leaves_running_is_ended(kind: str, bench: Bench, tmp_path: Path) -> None:
    """A background process does not outlive the block that started it, wherever it went."""
    pipe = tmp_path / "pipe"
    with pipe_that_is_let_go(pipe):
        code = LEFT[kind].format(pipe=pipe)
        page = f"# T\n\n```{kind.partition(',')[0]}\n{code}\n```\n"
        assert bench.only(page).verdict == "passed"


LATE = """
from pathlib import Path
from plugin_utils.docs_testing._child import _Watch

class Client:
    def __del__(self):
        raise ValueError("late")

failures = []
watch = _Watch(failures, "late")
Client()
watch.report_made(KeyError)
Client()
watch.report_made(ValueError)
Client()
print(len(failures), Path("late").read_text())
"""


def test_an_error_after_the_report_is_noted(tmp_path: Path) -> None:
    """What can no longer be in the report is one byte: whether the page wants such an error."""
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    ended = subprocess.run(
        [sys.executable, "-c", LATE],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        check=True,
        text=True,
        timeout=20,
    )
    assert ended.stdout == "1 uw\n"
    assert ended.stderr.count("ValueError: late") == 2


def test_who_may_not_be_ended_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is another user's now holds up nothing, and one that went has no parent."""

    def refuse(pid: int, number: int) -> None:
        raise PermissionError(pid, number)

    monkeypatch.setattr(os, "kill", refuse)
    assert not _child._try(os.kill, os.getpid(), 9)
    assert _child._parent(0) is None


def test_an_interrupt_ends_the_block(tmp_path: Path) -> None:
    """Ctrl-C while a block runs leaves no process and no temporary folder behind."""
    pipe, temporary = tmp_path / "pipe", tmp_path / "temporary"
    temporary.mkdir()
    site = sites.write(tmp_path / "site", {"docs/page.md": HANG.format(pipe=str(pipe))})
    command = [
        sys.executable,
        "-c",
        HEEDING_CTRL_C,
        "--codeblocks",
        "-p",
        "no:cacheprovider",
        "docs",
    ]
    environ = {**os.environ, "TMPDIR": str(temporary)}
    with (
        pipe_that_is_let_go(pipe) as reader,
        subprocess.Popen(
            command, cwd=site, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process,
    ):
        assert read(reader) == b"!"
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=50)  # a busy machine takes its time
        assert process.returncode == pytest.ExitCode.INTERRUPTED, printed
        assert not list(temporary.glob("docs-testing-*"))


def test_a_host_without_fork_starts_an_interpreter_for_each_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks run and hang there as they do elsewhere; a process that will not end is killed."""
    monkeypatch.setattr(_forkserver, "GRACE", 0.5)
    monkeypatch.delattr(os, "fork")
    bench = Bench(tmp_path, Options(base=tmp_path, limit=3), {})
    page = "# T\n\n```python\nimport signal, threading\n{}\n```\n"

    assert isinstance(starter({}), Spawner)
    assert bench.only(page.format("assert __name__ == '__main__'")).verdict == "passed"
    hang = "signal.setitimer(signal.ITIMER_REAL, 0)\nthreading.Event().wait()"
    assert "still running after 3 s" in bench.only(page.format(hang)).text
    bench.runner.close()


def test_a_server_that_ends_is_reported(tmp_path: Path) -> None:
    """Without its server no block can pass: pytest's own environment is broken."""
    server = ForkServer({"PATH": os.environ["PATH"], "PYTHONHOME": str(tmp_path)})
    job = tmp_path / "job.json"
    with pytest.raises(RuntimeError, match="the server of the blocks ended by itself, with status"):
        server.run(job, 1)
    server.close()


def test_a_host_without_timers_leaves_the_limit_to_pytest() -> None:
    """Where a process cannot set a timer, none is set, and nothing fails."""
    code = (
        "import _signal; del _signal.setitimer; from plugin_utils.docs_testing._child import _arm; "
        "_arm(0.001); print('armed')"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, timeout=20
    )
    assert ended.stdout == b"armed\n"


def test_a_block_that_ends_the_server_is_reported(tmp_path: Path) -> None:
    """Whatever a block does to the process that started it, pytest is not left waiting."""
    bench = Bench(tmp_path, Options(base=tmp_path, limit=20), {})
    kill = "import os, signal, threading\nos.kill(os.getppid(), signal.SIGKILL)"
    with pytest.raises(RuntimeError, match="ended by itself, with status -9"):
        bench.only(f"# T\n\n```python\n{kill}\nthreading.Event().wait()\n```\n")
    bench.runner.close()
