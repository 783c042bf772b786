"""What a failing block says: where, and why."""

from collections.abc import Iterator

import pytest

from plugin_utils.docs_testing._runner import Options
from tests.docs_testing.forms import SNIPPETS
from tests.docs_testing.sites import Bench


def test_an_assertion_names_its_line_and_values(bench: Bench) -> None:
    """A failed comparison is explained as in a test, at the line of the page."""
    report = bench.only(
        "# T\n\n```python\nfound = [1, 2, 3]\nassert found == [1, 5, 3], 'no'\n```\n"
    )

    assert report.verdict == "failed"
    assert report.text.startswith("docs/page.md:5: in <module>\n")
    assert "AssertionError: no\n" in report.text
    assert "assert [1, 2, 3] == [1, 5, 3]" in report.text
    assert "At index 1 diff: 2 != 5" in report.text


def test_an_assertion_in_a_quote_names_its_line(bench: Bench) -> None:
    """Front matter above and marks around a block do not shift its lines."""
    page = "---\ntitle: T\n---\n\n# T\n\n> ```python\n> x = 1\n>\n> assert x == 2\n> ```\n"
    assert bench.only(page).text.startswith("docs/page.md:10: in <module>\n")


def test_a_failure_in_an_included_line_names_its_file(bench: Bench) -> None:
    """What comes from a file fails at the line of that file."""
    page = (
        '# T\n\n```python\nimport sys\nsys.modules["log"] = None\n--8<-- "snippets/part.py"\n```\n'
    )
    report = bench.only(page)

    assert "snippets/part.py:1: in <module>\n    import log\n" in report.text
    assert "ModuleNotFoundError" in report.text


def test_a_statement_with_included_lines_keeps_to_its_own_file(bench: Bench) -> None:
    """An included line inside a statement of the page counts as the line above it."""
    (bench.folder / "snippets/raises.py").write_text("\n\n\n\nraise KeyError('x')\n", "utf-8")
    body = 'y = 1\n    --8<-- "snippets/raises.py:5:5"'
    page = f"# T\n\n```python\ndef work():\n    {body}\n\nwork()\n```\n"
    report = bench.only(page)

    assert "docs/page.md:8: in <module>\n    work()\n" in report.text
    assert "docs/page.md:5: in work\n" in report.text


def test_a_decorated_function_keeps_its_lines(bench: Bench) -> None:
    """A statement starts at its first decorator."""
    code = "from functools import cache\n\n@cache\ndef work():\n    assert 0\nwork()"
    page = f"# T\n\n```python\n{code}\n```\n"
    assert "docs/page.md:8: in work\n" in bench.only(page).text


def test_a_syntax_error_names_its_line(bench: Bench) -> None:
    """Code that does not compile is reported at its line of the page."""
    report = bench.only("# T\n\n```python\nx = 1\ny = = 2\n```\n")
    assert f'File "{bench.folder}/docs/page.md", line 5\n    y = = 2' in report.text
    assert report.text.endswith("SyntaxError: invalid syntax")


def test_a_cause_is_shown(bench: Bench) -> None:
    """An error raised from another one shows both."""
    page = (
        "# T\n\n```python\ntry:\n    {}['key']\n"
        "except KeyError as error:\n    raise ValueError('no key') from error\n```\n"
    )
    report = bench.only(page)
    assert "docs/page.md:5: in <module>" in report.text
    assert "docs/page.md:7: in <module>" in report.text


def test_a_thread_names_its_line(bench: Bench) -> None:
    """A thread's failure begins at the page's code, not in the standard library."""
    page = (
        "# T\n\n```python\nimport threading\ndef work():\n    assert 1 == 2\n"
        "thread = threading.Thread(target=work)\nthread.start()\nthread.join()\n```\n"
    )
    assert bench.only(page).text.startswith("docs/page.md:6: in work\n")


def test_a_thread_may_end_itself(bench: Bench) -> None:
    """`SystemExit` in a thread ends the thread and fails nothing, as in Python."""
    page = (
        "# T\n\n```python\nimport threading\n"
        "thread = threading.Thread(target=exit)\nthread.start()\nthread.join()\n```\n"
    )
    assert bench.only(page).verdict == "passed"


def test_a_session_names_its_line(bench: Bench) -> None:
    """A wrong answer in a session is reported at its prompt."""
    report = bench.only("# T\n\n```pycon\n>>> 1\n1\n>>> 2\n3\n```\n")
    assert report.text == "docs/page.md:6: >>> 2\nExpected:\n    3\nGot:\n    2"


SESSION = """\
>>> 1 / 0
Traceback (most recent call last):
  ...
ZeroDivisionError: division by zero
>>> x = = 1
Traceback (most recent call last):
  ...
SyntaxError: invalid syntax
>>> try:
...     {}['key']
... except KeyError as error:
...     raise ValueError("no key\\nat all") from error
Traceback (most recent call last):
  ...
ValueError: no key
at all
>>> raised = LookupError("kept")
>>> raised.__cause__ = KeyError("cause")
>>> raise raised
Traceback (most recent call last):
  ...
LookupError: kept
>>> raised.__cause__, raised.__traceback__ is None
(KeyError('cause'), False)
>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Frozen(Exception):
...     code: int
>>> raise Frozen(5)
Traceback (most recent call last):
  ...
Frozen: 5
>>> print("a  b")  # doctest: +NORMALIZE_WHITESPACE
a b
>>> print("a ... b")  # doctest: -ELLIPSIS
a ... b
>>> import __main__
>>> __main__.x = 3
>>> x
3
"""


def test_a_session_shows_errors_as_python_does(bench: Bench) -> None:
    """The error at the end of a prompt is compared, and directives are heeded."""
    report = bench.only(f"# T\n\n```pycon\n{SESSION}```\n")
    assert report.verdict == "passed", report


@pytest.mark.parametrize(
    ("session", "got"),
    [
        (">>> 1 / 0", "ZeroDivisionError: division by zero"),
        (">>> 1 / 0\nTraceback (most recent call last):\nValueError: no", "ZeroDivisionError: "),
        (">>> x = '\0'", "SyntaxError: "),
    ],
)
def test_an_error_that_a_session_does_not_show_fails_it(
    bench: Bench, session: str, got: str
) -> None:
    """An error is no output, and one error is not the other."""
    report = bench.only(f"# T\n\n```pycon\n{session}\n```\n")
    assert report.text.startswith("docs/page.md:4: >>> ")
    assert got in report.text


def test_code_that_python_cannot_read_is_an_error(bench: Bench) -> None:
    """What the compiler refuses for another reason than its syntax is reported, too."""
    report = bench.only(f"# T\n\n```python\nx = {'-' * 5_000}1\n```\n")
    assert 'page.md", line 4\n' in report.text
    assert "SyntaxError: RecursionError: " in report.text


@pytest.mark.parametrize(
    ("session", "text"),
    [
        ("print(1/0)", "4: 'print(1/0)' belongs to no prompt, so nothing tests it"),
        ('>>> print("a")\na\n\nWRONG\n>>> 1\n1', "7: 'WRONG' belongs to no prompt"),
        (">>> 1\n1\n>>> 1/0  # doctest: +SKIP", "6: a prompt that is skipped is not tested"),
    ],
    ids=["no prompt", "after a blank line", "skipped"],
)
def test_a_session_is_tested_whole(bench: Bench, session: str, text: str) -> None:
    """What a doctest would pass over in silence fails the block, at its line."""
    report = bench.only(f"# T\n\n```pycon\n{session}\n```\n")
    assert report.text.startswith(f"docs/page.md:{text}"), report


@pytest.mark.parametrize(
    ("language", "line"), [("console", '$ python -c "print(True)"'), ("pycon", ">>> 1 == 1")]
)
def test_true_is_not_one(bench: Bench, language: str, line: str) -> None:
    """A page that shows `1` where a reader sees `True` is wrong."""
    report = bench.only(f"# T\n\n```{language}\n{line}\n1\n```\n")
    assert "Expected:\n    1\nGot:\n    True" in report.text


def test_a_future_import_that_an_include_puts_too_low_is_an_error(bench: Bench) -> None:
    """The text that a reader copies is one module, whatever files it comes from."""
    (bench.folder / "snippets/later.py").write_text("from __future__ import annotations\n", "utf-8")
    report = bench.only('# T\n\n```python\nx = 1\n--8<-- "snippets/later.py"\n```\n')
    assert f'File "{bench.folder}/snippets/later.py", line 1' in report.text
    assert "from __future__ imports must occur at the beginning of the file" in report.text


def test_a_session_sees_any_text_in_dots(bench: Bench) -> None:
    """Three dots in a shown answer stand for what changes from run to run."""
    assert (
        bench.only("# T\n\n```pycon\n>>> object()\n<object object at ...>\n```\n").verdict
        == "passed"
    )


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ('```text title="Output"\n2\n```', 9),
        ("<!--pytest-codeblocks:expected-output-->\n```\n2\n```", 10),
        ("- A list:\n\n    <!--pytest-codeblocks:expected-output-->\n    ```\n    2\n    ```", 12),
    ],
    ids=["titled", "marked", "in a list"],
)
def test_a_wrong_output_names_the_block_that_shows_it(bench: Bench, output: str, line: int) -> None:
    """What is to be mended is the output on the page, and not the code above it."""
    report = bench.only(f"# T\n\n```python\nprint(1)\n```\n\nIt prints:\n\n{output}\n")
    shown = "the page shows this output:\n2\n\nbut the block printed:\n1\n"
    assert report.text == f"docs/page.md:{line}: {shown}"


def test_a_script_names_the_line_that_failed(bench: Bench) -> None:
    """A command that fails without a word is named by its line, and stops the script."""
    report = bench.only("# T\n\n```bash\ntrue\n\nfalse\necho on\n```\n")
    assert report.text == "docs/page.md:6: the block ended with exit status 1"
    assert report.stdout == ""


def test_a_script_has_the_lines_of_the_page(bench: Bench) -> None:
    """The shell's own messages carry the page's line numbers, and unset variables are errors."""
    report = bench.only("# T\n\n```bash\ntrue\necho $no_such_variable\n```\n")
    assert "line 5: no_such_variable: unbound variable" in report.stderr


def test_an_included_script_names_its_file(bench: Bench) -> None:
    """A line that comes from a file is named by that file, even its first."""
    (bench.folder / "snippets/steps.sh").write_text("false\n", "utf-8")
    report = bench.only('# T\n\n```bash\n--8<-- "snippets/steps.sh"\n```\n')
    assert report.text == "snippets/steps.sh:1: the block ended with exit status 1"


CONSOLE = """\
# T

```console
$ export WHO=you
$ cd .. && echo "hello,
> $WHO"
hello,
you
$ basename \\
  "$PWD"/work
work
$ echo {shown}
three
```
"""


def test_a_console_is_one_shell(bench: Bench) -> None:
    """Variables and folders last from one command to the next; commands may go over lines."""
    assert bench.only(CONSOLE.format(shown="three")).verdict == "passed"


def test_a_console_has_continued_lines_that_are_blank(bench: Bench) -> None:
    """The second prompt may stand alone, as in a document with a blank line."""
    lines = "$ cat <<END\n> one\n>\n> two\n> END\none\n\ntwo"
    report = bench.only(f"# T\n\n```console\n{lines}\n```\n")
    assert report.verdict == "passed", report


def test_a_console_names_the_command_whose_output_differs(bench: Bench) -> None:
    """The output that is shown is compared, command by command."""
    report = bench.only(CONSOLE.format(shown="four"))
    assert report.text.startswith("docs/page.md:12: $ echo four\nExpected:\n    three\nGot:\n")


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ("$ echo one\n$ false\n$ echo two", "5: $ false\nended with exit status 1 and printed\n"),
        ("$ exit 0\n$ echo two", "5: not reached: the shell had ended before"),
        ("$ exit 4", "4: $ exit 4\nended with exit status 4 and printed\n"),
        ("echo one", "4: a console block starts with a `$ ` line, not with 'echo one'"),
    ],
)
def test_a_console_fails_with_its_command(bench: Bench, lines: str, text: str) -> None:
    """A command that fails, or is never reached, fails the block at its line."""
    assert bench.only(f"# T\n\n```console\n{lines}\n```\n").text == f"docs/page.md:{text}"


def test_a_console_may_show_a_failure(bench: Bench) -> None:
    """A command may fail if the next one shows its status."""
    page = "# T\n\n```console\n\n$ (exit 3)\n$ echo $?\n3\n$ printf 'no newline'\nno ...\n```\n"
    assert bench.only(page).verdict == "passed"


@pytest.mark.parametrize(
    ("language", "data", "line"),
    [
        ("json", '{\n"a": 1,\n}', 6),
        ("yaml", "a: 1\nb: [", 5),
        ("toml", "a = 1\nb = = 2", 5),
        ("ini", "[a]\n[a]", 5),
    ],
)
def test_data_names_its_line(bench: Bench, language: str, data: str, line: int) -> None:
    """A parser's error is reported at its line of the page."""
    report = bench.only(f"# T\n\n```{language}\n{data}\n```\n")
    assert report.text.startswith(f"docs/page.md:{line}: not {language}: ")


@pytest.mark.parametrize("language", ["python", "bash", "console", "json", "markdown", "ini"])
def test_an_empty_block_is_judged(bench: Bench, language: str) -> None:
    """A block without a line is not an error of the runner."""
    report = bench.only(f"# T\n\n```{language}\n```\n")
    assert report.verdict == ("failed" if language == "json" else "passed")


def test_markdown_names_its_line(bench: Bench) -> None:
    """A page in a page whose fence is no fence is reported at its line; front matter counts."""
    page = "# T\n\n````markdown\n---\nt: 1\n---\n\n```python huh='1'\nx\n````\n"
    assert bench.only(page).text == "docs/page.md:8: a fence that MkDocs does not read as one"


def test_markdown_keeps_its_includes_as_text(bench: Bench) -> None:
    """A page in a page may show an include of a file that is not there; its marks are read."""
    page = '# T\n\n````markdown\n;--8<-- "none.py"\n\n<!--pytest.mark.xfail-->\n{end}\n````\n'
    assert "a mark with no block below it" in bench.only(page.format(end="")).text
    assert bench.only(page.format(end="```python\nx\n```")).verdict == "passed"


def test_an_unknown_language_is_an_error(bench: Bench) -> None:
    """The message names the language, those that are tested, and the way out."""
    text = bench.only("# T\n\n```zsh\nls\n```\n").text
    assert text.startswith("docs/page.md:3: a 'zsh' block is not tested")
    assert "console, ini, json" in text
    assert "docs_loaders" in text


FINAL = "class A:\n    def __del__(self):\n        {}\na = A()\n"


def test_what_the_interpreter_ends_with_is_output(bench: Bench) -> None:
    """An object that lives to the end may print when the interpreter lets it go."""
    page = '# T\n\n```python\n{}```\n\n```text title="Output"\nclosed\n```\n'
    assert bench.only(page.format(FINAL.format("print('closed')"))).verdict == "passed"
    assert "the page shows this output" in bench.only(page.format(FINAL.format("pass"))).text


@pytest.mark.parametrize(
    ("mark", "verdict"),
    [
        ("", "failed"),
        ("<!--pytest.mark.xfail(raises=ZeroDivisionError)-->\n", "xfailed"),
        ("<!--pytest.mark.xfail(raises=KeyError)-->\n", "failed"),
        ("<!--pytest.mark.goes_wrong('leaks', raises=ZeroDivisionError)-->\n", "passed"),
    ],
)
def test_an_error_when_the_interpreter_ends_counts(bench: Bench, mark: str, verdict: str) -> None:
    """An error in `__del__` fails the block, or is what its mark says, also at the very end."""
    report = bench.only(f"# T\n\n{mark}```python\n{FINAL.format('1 / 0')}```\n")
    assert report.verdict == verdict
    assert "ZeroDivisionError: division by zero" in report.stderr
    if verdict == "failed":
        assert "an error that nobody could catch, when the interpreter ended" in report.text


def test_an_interpreter_that_dies_at_its_end_is_reported(bench: Bench) -> None:
    """A block whose process ends badly has not passed, though its last line was reached."""
    code = f"import os\n{FINAL.format('os.kill(os.getpid(), 9)')}"
    report = bench.only(f"# T\n\n```python\n{code}```\n")
    assert report.text == "docs/page.md:3: the process ended, with status -9, in the block"


def test_a_failure_is_shown_whatever_the_block_did_to_its_folder(bench: Bench) -> None:
    """A folder that is gone, or has a file of a module's name in it, hides no failure."""
    gone = "import os, shutil\nshutil.rmtree(os.getcwd())\n1 / 0"
    named = "open('pytest.py', 'w').write('raise SystemExit')\n1 / 0"
    for code in (gone, named):
        text = bench.only(f"# T\n\n```python\n{code}\n```\n").text
        assert text.endswith("ZeroDivisionError: division by zero")


def test_a_process_that_dies_is_reported(bench: Bench) -> None:
    """A block that ends its process at once has not passed."""
    report = bench.only("# T\n\n```python\nimport os\nprint('on')\nos._exit(3)\n```\n")
    assert report.text == "docs/page.md:3: the process ended, with status 3, in the block"
    assert report.stdout == "on\n"


def test_what_a_block_prints_is_kept(bench: Bench) -> None:
    """Both outputs are reported, also those of child processes, in their order."""
    page = (
        "# T\n\n```python\nimport subprocess, sys\nprint('one')\n"
        "subprocess.run(['echo', 'two'])\nprint('three')\nprint('err', file=sys.stderr)\n"
        "sys.stdout.close()\n```\n"
    )
    report = bench.only(page)
    assert (report.verdict, report.stdout, report.stderr) == (
        "passed",
        "one\ntwo\nthree\n",
        "err\n",
    )


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """A site whose blocks have a second."""
    folder = tmp_path_factory.mktemp("hasty")
    files = {f"snippets/{name}": text for name, text in SNIPPETS.items()}
    result = Bench(folder, Options(base=folder, limit=1), files)
    yield result
    result.runner.close()


HANGS = "# T\n\n```python\nimport threading\nprint('waits')\nthreading.Event().wait()\n```\n"


def test_a_block_that_hangs_is_ended(hasty: Bench) -> None:
    """The limit ends it, and the report shows where each thread was."""
    report = hasty.only(HANGS)
    assert report.text.startswith("docs/page.md:3: still running after 1 s, so it was ended")
    assert 'page.md", line 6 in <module>' in report.stderr


def test_a_thread_that_hangs_is_ended(hasty: Bench) -> None:
    """The interpreter waits for a thread at its end, and so does the runner, within the limit."""
    page = (
        "# T\n\n```python\nimport threading\n"
        "threading.Thread(target=threading.Event().wait).start()\n```\n"
    )
    assert "still running after 1 s" in hasty.only(page).text


def test_a_block_that_stops_its_own_watchdog_is_ended(
    hasty: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the process cannot end itself, it is killed from outside."""
    monkeypatch.setattr("plugin_utils.docs_testing._forkserver.GRACE", 0.5)
    page = HANGS.replace("import threading", "import signal, threading").replace(
        "print('waits')", "signal.setitimer(signal.ITIMER_REAL, 0)"
    )
    assert "still running after 1 s" in hasty.only(page).text
    assert hasty.only("# T\n\n```python\n1\n```\n").verdict == "passed"
