"""Each snippet is run as a reader runs it: saved to a file, and started."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

SNIPPETS = Path(__file__).parents[2] / "snippets"

GOES_WRONG = {
    "after_fork": """AssertionError: the parent was told "the child's question\"""",
    "client_with_config": "AssertionError: one process writes to ['home', 'work']",
    "close_at_exit": "AssertionError: the last message was never sent",
    "close_on_reset": "AssertionError: get_client() returned a closed client",
    "connect_to_honcho": "AssertionError: the workspace was made 2 times",
    "fake_in_a_slot": "AssertionError: the test talks to the real server",
    "free_threaded": "AssertionError: 2 messages sent, 1 counted",
    "honcho_case_study": (
        "AssertionError: 5 of 5 do not hold: one_change_makes_one_client, "
        "a_reset_outlives_a_slow_build, a_new_client_stays, two_timeouts_make_two_clients, "
        "a_dropped_client_is_closed"
    ),
    "migrate_racy_accessor": "AssertionError: the reset was lost: the old client is back",
    "once_per_machine": "AssertionError: 2 processes downloaded the model",
    "one_client_per_profile": "AssertionError: built for: work, work",
    "optional_sdk": "AssertionError: pip ran 2 times at once",
    "per_instance_and_per_thread": ("AssertionError: 1 daemon runs on, and nobody knows it"),
    "rebuild_when_config_changed": "AssertionError: 2 new clients for one change",
    "recover_from_failed_build": ("AssertionError: during the build: None, after it failed: None"),
    "reset_in_tests": "AssertionError",
    "retire_while_in_use": "AssertionError: the connection was closed",
    "share_one_client": "AssertionError: 2 clients were built",
    "test_your_accessor": "AssertionError",
    "torn_reset": "AssertionError: get() returned None",
    "two_event_loops": "AssertionError: the client belongs to the first loop",
    "use_from_async": "AssertionError: 2 clients were made",
    "warm_up": "AssertionError: 2 clients were built",
}
WORKS = [path.stem for path in sorted((SNIPPETS / "fixed").glob("[!_]*.py"))]


def run_as_pasted(path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a snippet in a process and a folder of its own, warnings being errors."""
    return subprocess.run(
        [sys.executable, "-W", "error", path],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_each_racy_snippet_is_named() -> None:
    """No racy snippet is left out of the table, and so of the tests."""
    racy = {path.stem for path in (SNIPPETS / "racy").glob("[!_]*.py")}
    assert racy == GOES_WRONG.keys(), "name it in GOES_WRONG, with the last line of its error"


@pytest.mark.parametrize("name", GOES_WRONG)
def test_the_racy_snippet_goes_wrong(name: str, tmp_path: Path) -> None:
    """A racy snippet fails by the assertion that says what went wrong."""
    done = run_as_pasted(SNIPPETS / "racy" / f"{name}.py", tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == GOES_WRONG[name]


@pytest.mark.parametrize("name", WORKS)
def test_the_fixed_snippet_works(name: str, tmp_path: Path) -> None:
    """A fixed snippet keeps what it asserts."""
    done = run_as_pasted(SNIPPETS / "fixed" / f"{name}.py", tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "name", [*(f"racy.{name}" for name in GOES_WRONG), *(f"fixed.{name}" for name in WORKS)]
)
def test_importing_a_snippet_shows_nothing(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    """A snippet's demonstration runs only where the snippet is started."""
    import_module(f"snippets.{name}")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", GOES_WRONG)
def test_each_racy_snippet_has_its_cure(name: str) -> None:
    """What goes wrong in one file is put right in the file of the same name."""
    assert name in WORKS
