"""Runs the library's own suite on every interpreter of this machine: `make test-all`.

Each gets an environment of its own in `.venvs`, with what the dependency group `test` names and
nothing else: the library itself needs nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ("SUITE", "Interpreter", "choose", "find", "main")

ROOT = Path(__file__).parents[2]
# What must pass on every interpreter; a folder that is not there is left out.
SUITE = ("tests/primitives", "tests/interleaving", "tests/aio")
_OLDEST = (3, 11)
_ASK = """\
import json, os, sys, sysconfig
print(json.dumps([
    sys.implementation.name,
    sys.version_info[:3],
    bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    os.path.realpath(getattr(sys, "_base_executable", sys.executable)),
]))
"""


@dataclass(frozen=True)
class Interpreter:
    """An interpreter that can run the suite."""

    executable: Path
    version: tuple[int, int, int]
    free_threaded: bool

    @property
    def tag(self) -> str:
        """What tells it from others: one interpreter of each tag is enough."""
        major, minor, _ = self.version
        return f"{major}.{minor}{'t' if self.free_threaded else ''}"

    @property
    def release(self) -> str:
        """The exact version, as a table of results names it."""
        major, minor, micro = self.version
        return f"{major}.{minor}.{micro}{'t' if self.free_threaded else ''}"

    def __str__(self) -> str:
        return f"{self.release} ({self.executable})"


def find() -> Iterator[Interpreter | str]:
    """Find interpreters on PATH, under pyenv, and the free-threaded build that CI makes.

    Yields:
        Each interpreter once; for one that cannot run the suite, a line that says why.
    """
    seen: set[Path] = set()
    for candidate in _candidates():
        answer = _ask(candidate)
        if isinstance(answer, str):
            yield f"{candidate}: {answer}"
        elif answer.executable not in seen:
            seen.add(answer.executable)
            yield answer


def _candidates() -> Iterator[Path]:
    names = [
        "python3",
        *(f"python3.{minor}{flag}" for minor in range(_OLDEST[1], 30) for flag in ("", "t")),
    ]
    for name in names:
        on_path = shutil.which(name)
        if on_path:
            yield Path(on_path)
    home = Path.home()
    pyenv = Path(os.environ.get("PYENV_ROOT") or home / ".pyenv")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    yield from sorted(pyenv.glob("versions/*/bin/python3"))
    yield from sorted(cache.glob("plugin-utils/python*/bin/python3"))


def _ask(executable: Path) -> Interpreter | str:
    """Start the interpreter and ask what it is, or say why it is of no use."""
    try:
        answer = subprocess.run(
            [executable, "-c", _ASK], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not start: {error}"
    if answer.returncode:
        return f"does not start: {answer.stderr.strip().partition(chr(10))[0]}"
    name, version, free_threaded, base = json.loads(answer.stdout)
    if name != "cpython":
        return f"is {name}; the library is made for CPython"
    if tuple(version) < _OLDEST:
        return f"is {'.'.join(map(str, version))}; the library needs 3.11 or newer"
    return Interpreter(Path(base), tuple(version), free_threaded)


def choose(found: Sequence[Interpreter]) -> dict[str, Interpreter]:
    """Return the newest interpreter of each tag, oldest tag first."""
    newest_last = sorted(found, key=lambda each: (each.version, each.free_threaded))
    return {each.tag: each for each in newest_last}


def _environment(interpreter: Interpreter) -> Path:
    """Make the interpreter's environment, unless it is there and current; return its Python."""
    folder = ROOT / ".venvs" / interpreter.tag
    python = folder / "bin" / "python"
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    constraints = ROOT / "constraints.txt"
    made_from = f"{interpreter}\n{groups['test']}\n{constraints.read_text('utf-8')}"
    stamp = folder / "made-from.txt"
    if not stamp.exists() or stamp.read_text("utf-8") != made_from:
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([interpreter.executable, "-m", "venv", folder], check=True)
        options = ["--quiet", "--disable-pip-version-check", "--constraint", str(constraints)]
        install = [str(python), "-m", "pip", "install", *options, *groups["test"]]
        subprocess.run(install, check=True)
        stamp.write_text(made_from, "utf-8")
    return python


def _run(interpreter: Interpreter, arguments: Sequence[str]) -> bool:
    """Run each folder in a process of its own, all of them, and say whether all have passed.

    A free-threaded Python may keep the slots of explored threads, with locks that nobody will
    release, until after the explorer's tests; `reset_all` in a later test would wait for them.
    """
    pytest = [str(_environment(interpreter)), "-m", "pytest", "-q"]
    codes = [
        subprocess.run([*pytest, folder, *arguments], cwd=ROOT, check=False).returncode
        for folder in SUITE
        if (ROOT / folder).is_dir()
    ]
    return not any(codes)


def main(arguments: Sequence[str]) -> int:
    """Run the suite everywhere, and return 1 if it has failed anywhere."""
    parser = argparse.ArgumentParser(prog="make test-all", description=__doc__)
    parser.add_argument("--list", action="store_true", help="only say which interpreters there are")
    options, for_pytest = parser.parse_known_args(arguments)
    found: list[Interpreter] = []
    for each in find():
        if isinstance(each, str):
            _say(f"left out: {each}")
        else:
            found.append(each)
    chosen = choose(found)
    for each in found:
        newer = chosen[each.tag]
        _say(f"found: {each}" if each is newer else f"left out: {each}: {newer} does for both")
    if not any(each.free_threaded for each in found):
        _say("left out: free-threaded builds: none found; .ci/free-threaded makes one")
    if options.list:
        return 0
    verdicts: dict[Interpreter, bool] = {}
    for each in chosen.values():
        _say(f"\n== {each}")
        verdicts[each] = _run(each, for_pytest)
    _say("")
    for each, passed in verdicts.items():
        _say(f"{'passed' if passed else 'FAILED'}: {each}")
    return 0 if verdicts and all(verdicts.values()) else 1


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
