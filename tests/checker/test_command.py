"""The command line: what is printed, where, and with which exit code."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from plugin_utils.checker import RULES, command, rewrite, writing
from plugin_utils.checker import __main__ as runnable
from plugin_utils.checker.command import check, rule
from plugin_utils.checker.source import Source

RACY = """\
_client = None


def client():
    global _client
    if _client is None:
        _client = HttpClient()
    return _client
"""
VALUE = RACY.replace("HttpClient()", "parse_config()").replace("_client", "_config")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one racy module, as the current directory."""
    (tmp_path / "racy.py").write_text(RACY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("project")
def test_a_finding_is_a_line_with_its_place_code_and_level(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The first line is what editors parse; the last say what to do next."""
    assert check(["racy.py"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("racy.py:7:9: LS001 [high] `_client` is tested, built and stored")
    assert lines[1:] == [
        "Found 1 finding in 1 file.",
        "Run `plugin-utils rule LS001` to read why it matters.",
        "1 can be fixed with `--fix`; `--diff` shows how.",
    ]


def test_a_clean_project_exits_with_zero_and_says_so(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two files, nothing found."""
    (project / "racy.py").write_text("", encoding="utf-8")
    (project / "other.py").write_text("x = 1\n", encoding="utf-8")
    assert check(["."]) == 0
    assert capsys.readouterr().out == "No racy lazy singletons in 2 files.\n"


def test_two_findings_are_counted_as_two(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The summary minds its plurals, and names no fix where there is none."""
    racy = RACY.replace("def client()", "def client(url)")
    (project / "racy.py").write_text(racy + racy.replace("_client", "_pool"), encoding="utf-8")
    assert check(["."]) == 1
    assert "Found 2 findings in 1 file." in capsys.readouterr().out


@pytest.mark.usefixtures("project")
def test_exit_zero_reports_and_still_exits_with_zero(capsys: pytest.CaptureFixture[str]) -> None:
    """For a first look at a project that is not clean yet."""
    assert check(["racy.py", "--exit-zero"]) == 0
    assert "LS001" in capsys.readouterr().out


@pytest.mark.usefixtures("project")
def test_json_is_a_list_of_objects_with_the_promised_keys(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The keys are a contract with programs."""
    assert check(["racy.py", "--output-format", "json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)
    assert found.pop("message").startswith("`_client`")
    assert found.pop("url").endswith("/reference/rules/LS001.html")
    assert found == {
        "code": "LS001",
        "level": "high",
        "path": "racy.py",
        "line": 7,
        "column": 9,
        "end_line": 7,
        "function": "client",
        "name": "_client",
    }


def test_json_of_a_clean_project_is_an_empty_list(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A program that parses the output needs something to parse."""
    (project / "racy.py").write_text("", encoding="utf-8")
    assert check(["racy.py", "--output-format", "json"]) == 0
    assert capsys.readouterr().out == "[]\n"


@pytest.mark.usefixtures("project")
def test_github_gets_one_annotation_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    """And nothing else: the log is the interface."""
    check(["racy.py", "--output-format", "github"])
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("::error file=racy.py,line=7,col=9,endLine=7,title=LS001::`_client`")


def test_github_gets_nothing_from_a_clean_project(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not even an empty line."""
    (project / "racy.py").write_text("", encoding="utf-8")
    assert check(["racy.py", "--output-format", "github"]) == 0
    assert capsys.readouterr().out == ""


def test_github_escapes_what_its_commands_are_made_of(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A colon or comma in a file's name would end the property."""
    (project / "a,b.py").write_text(RACY, encoding="utf-8")
    check(["a,b.py", "--output-format", "github"])
    assert "file=a%2Cb.py," in capsys.readouterr().out


def test_sarif_names_every_rule_and_places_each_result(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Code-scanning services need the rule's page, and a path that is a URI."""
    (project / "a b.py").write_text(VALUE, encoding="utf-8")
    check([".", "--output-format", "sarif", "--level", "info"])
    document = json.loads(capsys.readouterr().out)
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    assert [r["id"] for r in run["tool"]["driver"]["rules"]] == ["LS000", *RULES]
    places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    assert [place["artifactLocation"]["uri"] for place in places] == ["a%20b.py", "racy.py"]
    assert places[1]["region"] == {"startLine": 7, "startColumn": 9, "endLine": 7}
    assert [result["level"] for result in run["results"]] == ["note", "error"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 0),
        (["--level", "info"], 1),
        (["--level", "info", "--select", "LS001"], 1),
        (["--level", "info", "--select", "ls0"], 1),
        (["--level", "info", "--select", "LS002, LS01"], 0),
        (["--level", "info", "--ignore", "LS00"], 0),
        (["--level", "high"], 0),
    ],
)
def test_level_select_and_ignore_decide_what_is_shown(
    project: Path, arguments: list[str], code: int
) -> None:
    """A merely recomputed value is information, off by default."""
    (project / "racy.py").write_text(VALUE, encoding="utf-8")
    assert check(["racy.py", *arguments]) == code


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--level", "low"], "level must be high, medium or info, not 'low'"),
        (["--select", "LS9"], "--select names 'LS9', which is no rule"),
        (["--ignore", ""], "--ignore names '', which is no rule"),
    ],
)
@pytest.mark.usefixtures("project")
def test_a_setting_that_cannot_be_meant_is_refused(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    """With exit code 2, and a text that says what would do."""
    assert check(["racy.py", *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.usefixtures("project")
def test_an_unknown_option_is_refused() -> None:
    """By argparse, with the same exit code."""
    with pytest.raises(SystemExit, match="2"):
        check(["racy.py", "--no-such-option"])


@pytest.mark.usefixtures("project")
def test_a_path_that_is_not_there_gives_two_and_the_rest_is_checked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A typo in CI must not look like a clean project."""
    assert check(["nope.py", "racy.py"]) == 2
    captured = capsys.readouterr()
    assert "cannot read nope.py: No such file or directory" in captured.err
    assert "Found 1 finding in 1 file." in captured.out


def test_a_file_that_does_not_parse_is_a_finding_and_the_rest_is_checked(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """LS000 has the line of the error, and a page to read."""
    (project / "a.py").write_text("def f(:\n", encoding="utf-8")
    assert check(["."]) == 1
    out = capsys.readouterr().out
    assert out.startswith("a.py:1:7: LS000 [high] cannot be parsed: ")
    assert "racy.py:7:9: LS001" in out
    (project / "racy.py").unlink()
    assert check(["."]) == 1
    assert "Run `plugin-utils rule LS000` to read" in capsys.readouterr().out


def test_diff_shows_the_change_and_changes_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It can be piped into `patch`."""
    (project / "racy.py").write_text(RACY.rstrip(), encoding="utf-8")
    (project / "other.py").write_text(RACY.replace("client()", "client(url)"), encoding="utf-8")
    assert check([".", "--diff"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("--- racy.py\n+++ racy.py\n@@ -1,8 +1,15 @@\n")
    assert "+        with _client_lock:\n" in out
    assert "\n\\ No newline at end of file\n" in out
    assert (project / "racy.py").read_text(encoding="utf-8") == RACY.rstrip()


def test_fix_rewrites_the_file_and_reports_what_is_left(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of two findings can be fixed; the other stays, and so does the exit code."""
    left = RACY.replace("client", "pool").replace("def pool()", "def pool(url)")
    (project / "racy.py").write_text(RACY + left, encoding="utf-8")
    assert check(["racy.py", "--fix"]) == 1
    captured = capsys.readouterr()
    assert captured.err == "racy.py: fixed 1\n"
    assert "Found 1 finding in 1 file." in captured.out
    assert "with _client_lock:" in (project / "racy.py").read_text(encoding="utf-8")


def test_diff_says_what_cannot_be_fixed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On standard error, so that the rest can be piped into `patch`; alone or beside a change."""
    unfixable = RACY.replace("client()", "client(url)")
    (project / "racy.py").write_text(unfixable, encoding="utf-8")
    assert check(["racy.py", "--diff"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    line, summary = captured.err.splitlines()
    assert line.startswith("racy.py:7:9: LS001 [high] `_client` is tested")
    assert summary == "1 finding cannot be fixed with `--fix`."
    (project / "other.py").write_text(RACY, encoding="utf-8")
    assert check([".", "--diff"]) == 1
    captured = capsys.readouterr()
    assert captured.out.startswith("--- other.py\n")
    assert captured.err.splitlines() == [line, summary]


def test_diff_of_what_can_all_be_fixed_is_nothing_but_the_diff(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is nothing else to say."""
    assert check([str(project / "racy.py"), "--diff"]) == 1
    assert capsys.readouterr().err == ""


def test_fix_of_one_file_by_two_names_leaves_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is one file, checked once and fixed once."""
    assert check(["--fix", "racy.py", "./racy.py"]) == 0
    assert capsys.readouterr() == (
        "No racy lazy singletons in 1 file.\n",
        "racy.py: fixed 1\n",
    )


def test_a_file_that_cannot_be_written_is_named_and_the_others_are_fixed(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its finding stays, and the exit code says that not all went well."""

    def replace_content(path: str, data: bytes) -> None:
        if path == "b.py":
            raise PermissionError(13, "Permission denied", path)
        writing.replace_content(path, data)

    for name in ("a.py", "b.py", "c.py"):
        (project / name).write_text(RACY, encoding="utf-8")
    monkeypatch.setattr(rewrite, "replace_content", replace_content)
    assert check(["a.py", "b.py", "c.py", "--fix"]) == 2
    captured = capsys.readouterr()
    assert captured.err.splitlines() == [
        "a.py: fixed 1",
        "c.py: fixed 1",
        "plugin-utils check: cannot write b.py: Permission denied",
    ]
    assert captured.out.startswith("b.py:7:9: LS001")
    assert (project / "b.py").read_text(encoding="utf-8") == RACY
    assert "with _client_lock:" in (project / "c.py").read_text(encoding="utf-8")


def test_a_file_that_turns_out_to_be_mended_is_not_written(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever mended it meanwhile has the last word."""

    def read(_path: str) -> Source:
        return Source("x = 1\n", "utf-8")

    monkeypatch.setattr(rewrite, "read", read)
    assert check(["racy.py", "--fix"]) == 1
    assert (project / "racy.py").read_text(encoding="utf-8") == RACY


CHAIN = (
    RACY
    + """
_outer = None
def a_outer():
    global _outer
    if _outer is None:
        _outer = client()
    return _outer
"""
)


@pytest.mark.parametrize("options", [["--fix"], ["--fix", "--unsafe-fixes"]])
def test_fix_goes_on_with_what_a_fix_brings_to_light(
    project: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    """The outer of two accessors is found once the inner one hands out its object by a local."""
    (project / "racy.py").write_text(CHAIN, encoding="utf-8")
    assert check(["racy.py", *options]) == 0
    assert capsys.readouterr().err == "racy.py: fixed 2\n"
    once = (project / "racy.py").read_text(encoding="utf-8")
    assert "with _outer_lock:" in once
    assert check(["racy.py", *options]) == 0
    assert (project / "racy.py").read_text(encoding="utf-8") == once


def test_fix_ends_though_there_were_always_more_to_fix(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Should a rewrite ever bring its own finding back, the command still comes to an end."""

    def fix_source(text: str, _findings: object, *, unsafe: bool) -> str:
        return f"# {unsafe}\n{text}"

    monkeypatch.setattr(rewrite, "fix_source", fix_source)
    assert check(["racy.py", "--fix"]) == 1
    assert capsys.readouterr().err == "racy.py: fixed 0\n"
    text = (project / "racy.py").read_text(encoding="utf-8")
    assert text.endswith(RACY)
    assert text.count("# False\n") == 20


def test_fix_keeps_the_encoding_of_the_file(project: Path) -> None:
    """The coding line, the byte order mark and the line ends are the author's."""
    text = "# coding: latin-1\r\n# caf\xe9\r\n" + RACY.replace("\n", "\r\n")
    (project / "racy.py").write_bytes(text.encode("latin-1"))
    assert check(["racy.py", "--fix"]) == 0
    data = (project / "racy.py").read_bytes()
    assert b"caf\xe9" in data
    assert data.count(b"\n") == data.count(b"\r\n")


def test_unsafe_fixes_use_the_decorator(project: Path) -> None:
    """Asked for by name only."""
    assert check(["racy.py", "--fix", "--unsafe-fixes"]) == 0
    assert "@lazy_singleton" in (project / "racy.py").read_text(encoding="utf-8")


class Terminal(io.StringIO):
    """A standard error that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def test_a_bar_shows_progress_if_there_is_much_to_do(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal, above the limit, and ending with a line of its own."""
    (project / "other.py").write_text("", encoding="utf-8")
    monkeypatch.setattr(command, "MANY", 1)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    check(["."])
    assert terminal.getvalue().endswith(f"\r[{'#' * 40}] 2/2 files\n")
    assert f"\r[{'#' * 20}{'.' * 20}] 1/2 files" in terminal.getvalue()


def test_a_rule_is_explained_in_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """With the text of its page."""
    assert rule(["ls001"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("# LS001: Global built without a lock\n\n**Level:** high.\n\n")
    assert "## Fix safety" in out


def test_the_code_of_a_file_that_does_not_parse_is_explained_too(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whatever a finding is called, there is something to read about it."""
    assert rule(["LS000"]) == 0
    assert capsys.readouterr().out.startswith("# LS000: File cannot be parsed\n")


def test_a_rule_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """With the list of those that do."""
    assert rule(["LS999"]) == 2
    assert "there is no rule 'LS999': there are LS000, LS001," in capsys.readouterr().err


def test_the_module_imports_nothing_from_the_folder_that_it_checks(project: Path) -> None:
    """A plugin may have a `json.py` of its own."""
    (project / "json.py").write_text("raise SystemExit('trapped')", encoding="utf-8")
    assert run_module(".", "--output-format", "json") == (1, "")


@pytest.mark.parametrize(
    ("first", "left"), [("", []), (".", []), ("elsewhere", ["elsewhere"])], ids=repr
)
def test_only_the_current_folder_is_taken_off_the_path(
    project: Path, monkeypatch: pytest.MonkeyPatch, first: str, left: list[str]
) -> None:
    """`python -P` puts none there, and then the first entry is somebody else's."""
    monkeypatch.setattr(sys, "path", [str(project) if first == "." else first])
    runnable.leave_folder()
    assert sys.path == left


def test_a_checkout_of_the_project_stays_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or worker processes would not find what they are to run."""
    root = str(Path(__file__).parents[2])
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "path", [root])
    runnable.leave_folder()
    assert sys.path == [root]


def run_module(*arguments: str) -> tuple[int, str]:
    """Run `python -m plugin_utils.checker` here; return its exit code and its complaints."""
    run = subprocess.run(
        [sys.executable, "-m", "plugin_utils.checker", *arguments],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert "LS001" in run.stdout
    return run.returncode, run.stderr


@pytest.mark.usefixtures("project")
def test_the_module_can_be_run() -> None:
    """`python -m plugin_utils.checker` is the same command."""
    assert run_module("racy.py") == (1, "")
