"""What the marks of a block do, and what they refuse."""

import pytest

from plugin_utils.docs_testing._block import PageError
from plugin_utils.docs_testing._marks import plan
from tests.docs_testing.sites import Bench

RACE = """\
import threading

class LostError(Exception): ...

built = []
both = threading.Barrier(2, timeout=10)

def get():
    if not built:
        both.wait()
        built.append(1)

threads = [threading.Thread(target=get) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if len(built) != 1:
    raise LostError(built)
"""
HANG = "import threading\nprint('waits', flush=True)\nthreading.Event().wait()\n"
MISSING = "import json\njson.loads('')\n"


def page(mark: str, code: str, language: str = "python", rest: str = "") -> str:
    """Write a page of one block with a mark above it."""
    return f"# T\n\n<!--pytest.mark.{mark}-->\n```{language}\n{code}\n```\n{rest}"


def output(text: str) -> str:
    """Write the output that a page shows below a block."""
    return f'\n```text title="Output"\n{text}\n```\n'


@pytest.mark.parametrize(
    ("mark", "code", "verdict"),
    [
        # The names of a mark are the block's own, then builtins, then what can be imported.
        ("xfail(raises=LostError)", RACE, "xfailed"),
        ("xfail(raises=json.decoder.JSONDecodeError)", MISSING, "xfailed"),
        ("xfail(raises=(KeyError, ValueError), reason='so')", MISSING, "xfailed"),
        ("xfail(raises=concurrent.futures.BrokenExecutor)", MISSING, "failed"),
        ("xfail(raises=KeyError)", MISSING, "failed"),
        ("xfail", MISSING, "xfailed"),
        ("xfail", "1", "failed"),
        ("xfail(strict=False)", "1", "passed"),
        ("xfail(sys.version_info > (3,), raises=ValueError)", MISSING, "xfailed"),
        ("xfail(sys.version_info < (3,), raises=ValueError)", MISSING, "failed"),
        ("skip(reason='so')", MISSING, "skipped"),
        ("skip", MISSING, "skipped"),
        ("skipif(sys.version_info > (3,), reason='so')", MISSING, "skipped"),
        ("skipif(sys.version_info < (3,), reason='so')", "1", "passed"),
        ("goes_wrong('races', raises=LostError)", RACE, "passed"),
        ("goes_wrong('races', raises=KeyError)", RACE, "failed"),
        ("goes_wrong('races', raises=LostError)", "class LostError(Exception): ...", "failed"),
        ("goes_wrong('leaks', raises=ValueError, within=15)", MISSING, "passed"),
        ("goes_wrong('hangs', within=0.5)", HANG, "passed"),
        ("goes_wrong('hangs', within=5)", "1", "failed"),
        ("goes_wrong('hangs', within=5)", MISSING, "failed"),
        ("runs_as('assert 1 == 1')", "while True: ...", "passed"),
        ("runs_as('assert 1 == 2')", "1", "failed"),
    ],
)
def test_a_mark_decides(bench: Bench, mark: str, code: str, verdict: str) -> None:
    """Each mark lets pass what it says, and nothing else."""
    report = bench.only(page(mark, code))
    assert report.verdict == verdict, report


def test_a_mark_that_cannot_be_read_is_reported(bench: Bench) -> None:
    """A name that nobody knows fails the block, before it runs or after."""
    for mark in ("xfail(raises=NoSuchError)", "skipif(no_such_name, reason='')"):
        text = bench.only(page(mark, MISSING)).text
        assert text.startswith(f"docs/page.md:4: the mark pytest.mark.{mark} cannot be evaluated")


def test_a_block_that_goes_wrong_must_do_so_every_time(bench: Bench) -> None:
    """One run out of several that does not go wrong fails the test."""
    counter = "$DOCS_ROOT/runs"
    code = f'echo >> "{counter}"\ntest "$(wc -l < "{counter}")" -ge 3 || exit 1'
    report = bench.only(page("goes_wrong('races', raises=AssertionError)", code, "bash"))
    assert report.verdict == "failed"
    assert report.text.endswith("but:\nnothing failed")
    assert (bench.folder / "runs").read_text("utf-8") == "\n" * 3


def test_what_goes_wrong_still_shows_its_output(bench: Bench) -> None:
    """The output of a block that goes wrong is compared, and is no way of going wrong."""
    races = "goes_wrong('races', raises=(AssertionError, ValueError))"
    code = f"print('one')\n{MISSING}"
    assert bench.only(page(races, code, rest=output("one"))).verdict == "passed"
    wrong = bench.only(page(races, code, rest=output("two")))
    assert wrong.text.startswith("docs/page.md:11: the page shows this output:\ntwo\n")
    fine = bench.only(page(races, "print('one')", rest=output("two")))
    assert "was to go wrong" in fine.text


def test_what_hangs_still_shows_its_output(bench: Bench) -> None:
    """The output of a block that hangs is compared, too."""
    hangs = "goes_wrong('hangs', within=0.5)"
    assert bench.only(page(hangs, HANG, rest=output("waits"))).verdict == "passed"
    assert (
        "but the block printed:\nwaits\n" in bench.only(page(hangs, HANG, rest=output("no"))).text
    )


def test_data_may_be_wrong_on_purpose(bench: Bench) -> None:
    """The error of a parser can be named by its own class."""
    assert bench.only(page("xfail(raises=json.JSONDecodeError)", "{", "json")).verdict == "xfailed"


def test_a_substitute_runs_in_the_project_root(bench: Bench) -> None:
    """It stands for a command that a reader gives in a checkout, in whatever language."""
    for language in ("console", "bash", "text", "powershell"):
        report = bench.only(page("runs_as('test -f mkdocs.yml')", "never run", language))
        assert report.verdict == "passed", report


def test_a_module_that_is_missing_skips_the_block(bench: Bench) -> None:
    """The engine's `importorskip` is judged where the block runs."""
    mark = "# T\n\n<!--pytest-codeblocks:importorskip({})-->\n```python\nraise SystemExit(1)\n```\n"
    assert bench.only(mark.format("no_such_module")).verdict == "skipped"
    assert bench.only(mark.format("json")).verdict == "failed"


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        ("not_run", "not_run takes one non-empty string"),
        ("not_run('  ')", "not_run takes one non-empty string"),
        ("runs_as(1)", "runs_as takes one non-empty string"),
        ("goes_wrong", "goes_wrong takes one of 'races', 'hangs', 'leaks', not None"),
        ("goes_wrong('burns', raises=X)", "goes_wrong takes one of .*, not 'burns'"),
        ("goes_wrong('races')", r"goes_wrong\('races'\) needs raises="),
        ("goes_wrong('hangs')", r"goes_wrong\('hangs'\) needs within="),
        ("goes_wrong('hangs', within=1, raises=X)", r"takes no \['raises'\]"),
        ("goes_wrong('hangs', within=0)", "seconds above 0, not 0"),
        ("goes_wrong('hangs', within='1')", "seconds above 0, not '1'"),
        ("goes_wrong('hangs', within=limit)", "limit must be written out"),
        ("parametrize('x', [1])", "parametrize has no effect"),
        ("xfail(run=False)", r"not_run\('reason'\), not xfail"),
        ("slow(", "is not Python"),
        ("deep.slow", "is not a mark; write pytest.mark.NAME"),
    ],
)
def test_a_mark_that_means_nothing_is_refused(mark: str, message: str) -> None:
    """A mark is read before anything runs, and the message says what to write."""
    with pytest.raises(ValueError, match=message):
        plan([f"pytest.mark.{mark}"], None)


def test_what_leaves_a_block_out_is_known_beforehand() -> None:
    """Whatever may leave a block out counts, wherever its condition is judged."""
    reasons = {
        "pytest.mark.not_run('so')": "so",
        "pytest.mark.skip": "skip",
        "pytest.mark.skipif(windows, reason='no fork')": "'no fork'",
    }
    assert {mark: plan([mark], None).not_run for mark in reasons} == reasons
    assert plan([], "redis").not_run == "importorskip(redis)"


def test_the_item_has_the_marks_that_pytest_can_select_by() -> None:
    """The plugin's own marks and foreign ones are put on the item; pytest acts on no other."""
    marks = ["pytest.mark.slow('a', b=1)", "pytest.mark.runs_as('true')", "pytest.mark.xfail"]
    assert plan(marks, None).others == [("slow", ("a",), {"b": 1}), ("runs_as", (), {})]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<!--pytest.mark.xfail-->", ":3: a mark with no block below it"),
        ("<!-- pytest.mark.xfail", ":3: not a mark, so it would have no effect"),
        ("<!--pytest-codeblocks:cont-->\n```python\n```", ":4: .* no previous code block"),
        ("<!--pytest-codeblocks:huh-->\n```python\n```", ":4: Unknown .* keyword"),
        (
            "```python\n```\n<!--pytest.mark.xfail-->\n<!--pytest-codeblocks:cont-->\n```python\n```",
            r":5: '.*xfail' belongs above the block that this one goes on with",
        ),
        (
            "```python\n```\n\n<!--pytest-codeblocks:cont-->\n```bash\n```",
            ":7: 'bash' cannot go on with 'python'",
        ),
    ],
)
def test_a_mark_in_the_wrong_place_is_refused(bench: Bench, text: str, message: str) -> None:
    """A mark that would do nothing, or go to another block, is an error of the page."""
    with pytest.raises(PageError, match=message):
        bench.run(f"# T\n\n{text}\n")


def test_marks_stand_in_lists_and_quotes(bench: Bench) -> None:
    """A mark has the indentation or the quote signs of its block."""
    marked = "<!--pytest.mark.xfail(raises=KeyError)-->\n```python\n{}['key']\n```"
    text = "# T\n\n- A step:\n\n    {}\n\n> {}\n".format(
        marked.replace("\n", "\n    "), marked.replace("\n", "\n> ")
    )
    assert [report.verdict for report in bench.run(text)] == ["xfailed", "xfailed"]


def test_a_block_is_loaded_by_the_projects_own_code(bench: Bench) -> None:
    """A titled block is written to a file of its name and given to the function for that title."""
    block = '# T\n\n```json title="etc/settings.json"\n{}\n```\n'
    loaded = bench.only(block.format('{"key": 1}'))
    assert loaded.verdict == "passed"
    assert loaded.stdout.strip().endswith("/home")
    assert "loaders.py:" in bench.only(block.format('{"other": 1}')).text
    assert "unknown setting" in bench.only(block.format('{"other": 1}')).text
    assert "not json" in bench.only(block.format("{")).text
    unknown = '# T\n\n```tree title="settings.json"\n{}\n```\n'
    assert "is not tested" in bench.only(unknown.format("{}")).text
    assert "settings.tree" in bench.only(unknown.replace(".json", ".tree").format("{}")).text
