"""The checker on the project that it belongs to."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from plugin_utils.checker import Level, check_source
from plugin_utils.checker.command import check
from plugin_utils.cli import main

ROOT = Path(__file__).parents[2]
NOT_FOUND = {
    "optional_sdk.py": "what is kept is a module, and Python imports a module once",
    "torn_reset.py": "the flag and the value are an object's, and nothing shows that it is shared",
}


def by_hand() -> list[Path]:
    """Return the racy snippets that build by hand; the others misuse a slot, and go wrong later."""
    snippets = sorted((ROOT / "snippets" / "racy").glob("[!_]*.py"))
    return [path for path in snippets if "plugin_utils" not in path.read_text(encoding="utf-8")]


def test_the_project_is_clean(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Under its own settings, which leave out only what is wrong on purpose."""
    monkeypatch.chdir(ROOT)
    assert check(["."]) == 0, capsys.readouterr().out
    capsys.readouterr()


def test_nothing_is_silenced_without_a_reason() -> None:
    """`noqa` for a code of the checker has no room for one, so it is not used here."""
    for folder in ("plugin_utils", "snippets", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            if path.parent != Path(__file__).parent:
                assert not re.search(r"#\s*noqa:.*\bLS\d", path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize("path", by_hand(), ids=lambda path: path.name)
def test_a_racy_snippet_is_found(path: Path) -> None:
    """What the guide calls a race is one to the checker too, or it is said why not."""
    found = [f for f in check_source(path.read_text(encoding="utf-8")) if f.level >= Level.MEDIUM]
    assert bool(found) != (path.name in NOT_FOUND)


def test_the_hook_that_is_offered_runs_a_command_that_exists() -> None:
    """With the keys that pre-commit asks for."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hook.keys() == {"id", "name", "description", "entry", "language", "types"}
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "scripts"
    ]
    command, subcommand = hook["entry"].split()
    assert command in scripts
    assert main([subcommand, str(ROOT / "plugin_utils" / "checker"), "--isolated"]) == 0
