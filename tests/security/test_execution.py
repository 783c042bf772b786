"""What is read is not run: files that are checked, and settings."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from plugin_utils.honcho import HonchoClientConfig

CHECK = [str(Path(sys.executable).with_name("plugin-utils")), "check"]
# A racy accessor, in a file that tells when it is run.
TRAP = """\
# -*- coding: utf-8 -*-
from pathlib import Path

Path("sprung").touch()
__import__("os").system("touch sprung")


def connect(default=Path("sprung").touch()):
    return object()


_client = None


def get_client():
    global _client
    if _client is None:
        _client = connect()
    return _client
"""
# Modules that a command imports, and files that other tools run.
NAMES = ("json.py", "ast.py", "plugin_utils.py", "conftest.py", "setup.py", "sitecustomize.py")


@pytest.fixture
def traps(tmp_path: Path) -> Path:
    """A folder of files that leave a file behind when they are run."""
    for name in NAMES:
        (tmp_path / name).write_text(TRAP, "utf-8")
    return tmp_path


def test_the_traps_work(traps: Path) -> None:
    """Each leaves its file when it is run."""
    for name in NAMES:
        # Isolated, or one of the traps would be imported in the place of a module of Python's.
        subprocess.run([sys.executable, "-I", name], cwd=traps, check=True, timeout=30)
        assert (traps / "sprung").exists()
        (traps / "sprung").unlink()


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--output-format", "json"],
        ["--output-format", "github"],
        ["--output-format", "sarif"],
        ["--diff"],
        ["--fix", "--unsafe-fixes"],
    ],
    ids=" ".join,
)
def test_the_checker_runs_nothing(options: list[str], traps: Path) -> None:
    """It reads each file, finds what is wrong with it, rewrites it if told to, and runs none."""
    command = [*CHECK, *options, "."]
    done = subprocess.run(
        command, cwd=traps, capture_output=True, text=True, check=False, timeout=50
    )
    said = done.stdout + done.stderr
    for name in NAMES:
        rewritten = (traps / name).read_text("utf-8") != TRAP
        assert rewritten is ("--fix" in options), said
        assert name in said
    assert "Traceback" not in said
    assert not (traps / "sprung").exists()


@pytest.mark.parametrize(
    "content",
    [
        "[tool.plugin-utils]\nselect = [__import__('os').system('touch sprung')]",
        '[tool.plugin-utils]\nselect = "!!python/object/apply:os.system"',
        "[tool.plugin-utils.check]\nlevel = {a = 1}",
        "\x00",
    ],
)
def test_the_checkers_settings_run_nothing(content: str, traps: Path) -> None:
    """Whatever stands in `pyproject.toml` is read as data, or refused."""
    (traps / "pyproject.toml").write_text(content, "utf-8")
    done = subprocess.run([*CHECK, "."], cwd=traps, capture_output=True, check=False, timeout=50)
    assert done.returncode in {1, 2}
    assert b"Traceback" not in done.stderr
    assert not (traps / "sprung").exists()


COMMANDS = (
    "honcho: !!python/object/apply:pathlib.Path.touch [!!python/object/new:pathlib.Path [sprung]]",
    "honcho: {timeout: !!python/object/apply:os.system ['touch sprung']}",
    "honcho:\n  base_url: !!python/object/apply:subprocess.getoutput ['touch sprung']",
    "!!python/object/apply:os.system ['touch sprung']",
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder, which is the working folder too."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("HERMES_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".hermes").mkdir()
    return tmp_path


@pytest.mark.parametrize("content", COMMANDS[1:])
def test_the_commands_work(content: str, home: Path) -> None:
    """A loader that trusts the file carries them out."""
    yaml.unsafe_load(content)
    assert (home / "sprung").exists()


@pytest.mark.parametrize("content", COMMANDS)
@pytest.mark.parametrize("name", ["config.yaml", "honcho.json"])
def test_honcho_settings_run_nothing(name: str, content: str, home: Path) -> None:
    """They are read as data, or ignored."""
    (home / ".hermes" / name).write_text(content, "utf-8")
    assert HonchoClientConfig.from_global_config().timeout is None
    assert not (home / "sprung").exists()
