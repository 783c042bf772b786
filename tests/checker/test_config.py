"""`[tool.plugin-utils.check]`: where it is found, and what it may say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from plugin_utils.checker.command import check
from plugin_utils.checker.config import Config, ConfigError
from plugin_utils.checker.model import Level
from plugin_utils.checker.settings import Settings

RACY = "_x = {}\n\ndef f(k):\n    if k not in _x:\n        _x[k] = Client(k)\n    return _x[k]\n"


def write(folder: Path, settings: str) -> Path:
    """Give `folder` a pyproject.toml with `settings`, and a racy module in a sub-folder."""
    (folder / "pyproject.toml").write_text(settings, encoding="utf-8")
    (folder / "src" / "old").mkdir(parents=True)
    (folder / "src" / "racy.py").write_text(RACY, encoding="utf-8")
    (folder / "src" / "old" / "racy.py").write_text(RACY, encoding="utf-8")
    return folder / "src"


def test_the_settings_of_the_nearest_project_count(tmp_path: Path) -> None:
    """A pyproject.toml in between that does not speak of the checker is passed over."""
    src = write(
        tmp_path,
        '[tool.plugin-utils.check]\nselect = ["LS00"]\nignore = ["LS002"]\n'
        'level = "info"\nexclude = ["old/"]\n',
    )
    (src / "pyproject.toml").write_text("[tool.other]\n", encoding="utf-8")
    assert Settings().of(str(src / "racy.py")) == Config(
        select=("LS00",), ignore=("LS002",), level=Level.INFO, exclude=("old/",), root=str(tmp_path)
    )


def test_without_settings_the_defaults_count(tmp_path: Path) -> None:
    """All rules, from level medium."""
    src = write(tmp_path, "[tool.plugin-utils]\n")
    assert Settings().of(str(src / "racy.py")) == Config()


def found_in(capsys: pytest.CaptureFixture[str], *paths: Path) -> list[str]:
    """Check `paths` and return the lines that report a finding, in the order of the alphabet."""
    capsys.readouterr()
    check([str(path) for path in paths])
    return sorted(line for line in capsys.readouterr().out.splitlines() if ": LS" in line)


def test_each_file_is_ruled_by_the_nearest_settings_above_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """So it gives the same whether it is named alone, with its neighbour, or by a folder."""
    src = write(tmp_path, "[tool.plugin-utils.check]\n")
    old = src / "old"
    (old / "pyproject.toml").write_text(
        '[tool.plugin-utils.check]\nignore = ["LS003"]\n', encoding="utf-8"
    )
    new = found_in(capsys, src / "racy.py")
    assert len(new) == 1
    assert found_in(capsys, old / "racy.py") == found_in(capsys, old) == []
    assert found_in(capsys, src) == found_in(capsys, tmp_path) == new
    assert found_in(capsys, old / "racy.py", src / "racy.py") == new


def test_the_settings_of_two_folders_are_not_merged(tmp_path: Path) -> None:
    """What the nearest ones do not say is the default; the command line is laid over each."""
    src = write(tmp_path, '[tool.plugin-utils.check]\nlevel = "high"\n')
    near = '[tool.plugin-utils.check]\nignore = ["LS001"]\n'
    (src / "pyproject.toml").write_text(near, encoding="utf-8")
    near_config = Config(ignore=("LS001",), root=str(src))
    assert Settings().of(str(src / "racy.py")) == near_config
    assert Settings(lambda config: replace(config, level=Level.INFO)).of(str(src / "x.py")) == (
        replace(near_config, level=Level.INFO)
    )


def test_a_folder_that_is_excluded_from_above_has_no_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither a table of its own brings it back, nor does a broken file in it matter."""
    src = write(tmp_path, '[tool.plugin-utils.check]\nexclude = ["old"]\n')
    (src / "old" / "pyproject.toml").write_text("[tool.plugin-utils.check]\n", encoding="utf-8")
    (src / "old" / "deep").mkdir()
    (src / "old" / "deep" / "racy.py").write_text(RACY, encoding="utf-8")
    (src / "old" / "deep" / "pyproject.toml").write_text("[tool", encoding="utf-8")
    assert len(found_in(capsys, src)) == 1
    assert found_in(capsys, src / "old" / "racy.py") == []
    assert found_in(capsys, src / "old" / "deep" / "racy.py") == []


def test_settings_that_cannot_be_meant_are_refused_wherever_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is checked or rewritten, and with the name of the file."""
    src = write(tmp_path, "")
    broken = src / "old" / "pyproject.toml"
    broken.write_text("[tool.plugin-utils.check]\nlevels = 1\n", encoding="utf-8")
    assert check([str(src), "--fix"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == (
        f"plugin-utils check: {broken}: [tool.plugin-utils.check] has no setting 'levels':"
        " there are select, ignore, level and exclude\n"
    )


@pytest.mark.parametrize("pattern", ["old", "src/old", "src/old/", "*/old/*.py", "o?d"])
def test_an_excluded_folder_is_not_looked_into(
    tmp_path: Path, pattern: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """By its name, its path from the project's root, or a pattern of either."""
    src = write(tmp_path, f'[tool.plugin-utils.check]\nexclude = ["{pattern}"]\n')
    assert check([str(src)]) == 1
    assert "Found 1 finding in 1 file." in capsys.readouterr().out


def test_an_excluded_file_is_not_checked_even_if_it_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pre-commit hook names every changed file; `--isolated` asks for it all the same."""
    src = write(tmp_path, '[tool.plugin-utils.check]\nexclude = ["racy.py"]\n')
    assert check([str(src / "racy.py")]) == 0
    assert check([str(src / "racy.py"), "--isolated"]) == 1
    capsys.readouterr()


def test_the_command_line_outranks_the_settings(tmp_path: Path) -> None:
    """Each option replaces its setting."""
    src = write(tmp_path, '[tool.plugin-utils.check]\nignore = ["LS003"]\n')
    assert check([str(src)]) == 0
    assert check([str(src), "--ignore", "LS001"]) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("[tool.plugin-utils.check]\nlevels = 1\n", "has no setting 'levels': there are select,"),
        ("[tool.plugin-utils.check]\nlevel = 1\n", "level must be high, medium or info, not 1"),
        ("[tool.plugin-utils.check]\nselect = 'LS'\n", "select must be a list of strings"),
        ("[tool.plugin-utils.check]\nignore = [1]\n", "ignore must be a list of strings"),
        ("[tool.plugin-utils.check]\nselect = ['X']\n", "select names 'X', which is no rule"),
        ("[tool.plugin-utils]\ncheck = 1\n", "must be a table, not 1"),
        ("[tool", "is not TOML"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused(
    tmp_path: Path, settings: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command exits with 2 and says which it is."""
    src = write(tmp_path, settings)
    with pytest.raises(ConfigError, match=message.replace("[", r"\[")):
        Settings().of(str(src))
    assert check([str(src)]) == 2
    assert message in capsys.readouterr().err
