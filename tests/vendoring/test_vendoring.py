"""The one-file copy: what it holds, what is said of it, and that it stands alone."""

import ast
import os
import runpy
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import plugin_utils
from plugin_utils import vendoring
from tests.vendoring import stand_in


def test_file_stands_alone(tmp_path: Path) -> None:
    """The copy works in an interpreter that sees no site packages and no plugin_utils."""
    (tmp_path / "copy_of_it.py").write_text(vendoring.render())
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from copy_of_it import KeyedSlots, SingletonSlot, lazy_singleton\n"
        "assert SingletonSlot[object]().get(object) is not None\n"
        "assert KeyedSlots().get('key', list) == []\n"
        "assert lazy_singleton(dict)() == {}\n"
        "assert 'plugin_utils' not in sys.modules and 'typing' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True, timeout=30)


def test_file_exports_what_the_package_exports(tmp_path: Path) -> None:
    """The copy's public names are the package's."""
    path = tmp_path / "one_file.py"
    path.write_text(vendoring.render())
    names = runpy.run_path(str(path))
    assert names["__all__"] == tuple(sorted(plugin_utils.__all__))
    assert set(plugin_utils.__all__) <= set(names)


def test_no_two_modules_define_the_same_name() -> None:
    """Joined into one module, no definition replaces another."""
    body = ast.parse(vendoring.render()).body
    names = Counter(
        node.name
        for node in body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        if not any(ast.unparse(mark) == "overload" for mark in node.decorator_list)
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_every_module_of_the_primitives_is_in_it() -> None:
    """A module that the package's face imports is not forgotten in the copy."""
    loaded = "import plugin_utils, sys; print(*[m for m in sys.modules if 'plugin_utils.' in m])"
    run = subprocess.run(
        [sys.executable, "-c", loaded], check=True, capture_output=True, text=True, timeout=30
    )
    wanted = {name.removeprefix("plugin_utils.") for name in run.stdout.split()}
    text = vendoring.render()
    assert {name for name in wanted if f"\n# {name}.py:\n" in text} == wanted


def test_fresh_copy_is_good() -> None:
    """What was just written is current and unmodified."""
    verdict = vendoring.check(vendoring.render())
    assert verdict.good
    assert plugin_utils.__version__ in verdict.reason


def test_modified_copy_is_told() -> None:
    """One changed character below the header is noticed."""
    verdict = vendoring.check(vendoring.render().replace("get_ident", "get_idemt", 1))
    assert not verdict.good
    assert "modified" in verdict.reason


def test_older_copy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of an earlier version is outdated, not modified."""
    monkeypatch.setattr(plugin_utils, "__version__", "0.0.1")
    old = vendoring.render()
    monkeypatch.undo()
    verdict = vendoring.check(old)
    assert not verdict.good
    assert "outdated: written from 0.0.1" in verdict.reason


def test_file_without_header_is_told() -> None:
    """Any other file is not taken for a copy."""
    assert "no header" in vendoring.check("import os\n").reason


def test_command_writes_then_checks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command writes a file that its own check accepts, and refuses once it is edited."""
    path = tmp_path / "_singletons.py"
    assert vendoring.main([str(path)]) == 0
    assert vendoring.main(["--check", str(path)]) == 0
    path.write_text(path.read_text() + "# mine\n")
    assert vendoring.main(["--check", str(path)]) == 1
    assert "modified" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["import os\n", vendoring.render() + "# mine\n"])
def test_other_file_is_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    """A module of the reader's, or an edited copy, is kept unless told otherwise."""
    path = tmp_path / "_singletons.py"
    path.write_text(text)
    assert vendoring.main([str(path)]) == 1
    assert path.read_text() == text
    assert "--force" in capsys.readouterr().err
    assert vendoring.main(["--force", str(path)]) == 0
    assert vendoring.main([str(path)]) == 0  # an unmodified copy is renewed
    assert vendoring.check(path.read_text()).good


@pytest.mark.parametrize("arguments", [["--check", "missing.py"], ["no/such/folder/x.py"], ["."]])
def test_bad_path_is_told(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
) -> None:
    """A path that cannot be read or written is named, with exit status 2."""
    monkeypatch.chdir(tmp_path)
    assert vendoring.main(arguments) == 2
    assert arguments[-1] in capsys.readouterr().err


@pytest.mark.parametrize("option", [[], ["--force"], ["--check"]], ids=str)
def test_pipe_is_not_waited_for(tmp_path: Path, option: list[str]) -> None:
    """Nobody may ever open the other end: what is no file is refused, with exit status 2."""
    pipe = tmp_path / "_singletons.py"
    os.mkfifo(pipe)
    code = "import sys; from plugin_utils.vendoring import main; sys.exit(main(sys.argv[1:]))"
    run = subprocess.run(
        [sys.executable, "-c", code, *option, str(pipe)],
        check=False,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert (run.returncode, run.stdout) == (2, "")
    assert f"{pipe}: not a regular file" in run.stderr


def test_download_of_the_guide_is_current() -> None:
    """The file that the guide offers is the one that the command writes."""
    download = Path(__file__).parents[2] / "docs" / "downloads" / "lazy_singletons.py"
    assert vendoring.check(download.read_text(encoding="utf-8")).good, (
        f"run: plugin-utils vendor {download.relative_to(Path.cwd())}"
    )


def test_stand_in_takes_the_place_of_the_package(tmp_path: Path) -> None:
    """What the second run of the suite imports is the copy, under every name it looks for."""
    stand_in.make(tmp_path)
    code = (
        "import plugin_utils\n"
        "from importlib import import_module\n"
        "assert import_module('plugin_utils._gate') is plugin_utils\n"
        "from plugin_utils.testing import run_together\n"
        "print(plugin_utils.__file__)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,  # which comes first on the path of `-c`
        check=True,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert run.stdout.strip() == str(tmp_path / "plugin_utils" / "__init__.py")
