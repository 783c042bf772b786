"""Which pages pytest collects, what it refuses, and what it says at the end."""

import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace
from typing import Any

import pytest
from mkdocs.utils import markdown_extensions

from plugin_utils.docs_testing import _collect
from plugin_utils.docs_testing._block import Place
from plugin_utils.docs_testing._pages import Site
from tests.docs_testing import sites
from tests.docs_testing.sites import Run

BLOCK = "# T\n\n```python\nprint({})\n```\n"
MARKED = "# T\n\n<!--pytest.mark.{}-->\n```python\nraise SystemExit('ran')\n```\n"

PLAIN = """\
site_name: Plain
theme: {name: mkdocs}
exclude_docs: |
  /drafts/
"""


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run a site that has only what MkDocs has by default."""
    fences = '```{ .python title="x" }\n1\n```\n\n~~~ text\n~~~\n\n- x\n\n    ```\n    ```\n'
    pages = {
        "README.md": BLOCK.format("'read me'"),
        "docs/index.md": f"# T\n\n{fences}",
        "docs/build/page_in_build.md": BLOCK.format("'build'"),
        "docs/deep/er/page_below.md": BLOCK.format("'below'"),
        "docs/drafts/draft.md": BLOCK.format("'draft'"),
        "docs/drafts/build/draft_in_build.md": BLOCK.format("'draft'"),
        "docs/api.md": "# T\n\n::: shelf\n\n~~~ python\n1\n~~~\n",
        "shelf.py": '"""Shelf.\n\n```python\nassert 0\n```\n"""\n',
        "build/no_page.md": BLOCK.format("'not of the site'"),
    }
    site = sites.write(tmp_path_factory.mktemp("plain"), pages, config=PLAIN)
    return sites.run(site, ".")


def test_pages_are_found_without_registration(plain: Run) -> None:
    """Every page that MkDocs publishes is collected, and the README; no other file is."""
    assert set(plain.pages) == {"README", "api", "index", "page_in_build", "page_below"}


def test_a_site_without_extensions_has_the_fences_of_markdown(plain: Run) -> None:
    """Braces and tildes are fences there, and what is indented is none."""
    found = [(item.name, item.outcome) for item in plain.pages["index"]]
    assert found[:2] == [("line 3", "passed"), ("line 7", "failed")]
    assert found[2:] == [("line 12", "failed"), ("line 13", "failed")]
    assert "MkDocs does not read this line as a fence" in plain.pages["index"][2].text


def test_an_example_in_a_docstring_runs_and_names_its_line(plain: Run) -> None:
    """What a page shows of a docstring is an item of the page, and fails at its own line."""
    own, example = plain.pages["api"]
    assert own == ("line 5", "passed", "")
    assert (example.name, example.outcome) == ("shelf.py:3", "failed")
    assert example.text.startswith("shelf.py:4: in <module>\n    assert 0\n")


@pytest.mark.parametrize("suffix", markdown_extensions)
def test_a_page_of_any_name_that_mkdocs_takes_is_run(suffix: str, tmp_path: Path) -> None:
    """What MkDocs publishes is a page, however its file is called."""
    site = sites.write(tmp_path, {f"docs/page{suffix}": BLOCK.format("1 / 0")}, config=PLAIN)
    run = sites.run(site)
    assert "docs: 1 pages, 1 blocks collected, 1 run, 0 not run" in run.printed
    assert run.status == pytest.ExitCode.TESTS_FAILED


REFUSED = {
    "bad_mark": (MARKED.format("not_run"), "docs/bad_mark.md:4: not_run takes one non-empty"),
    "unknown_mark": (MARKED.format("sloow"), "docs/unknown_mark.md:4: 'sloow' not found"),
    "lost_include": ('# T\n\n--8<-- "none.md"\n', "Snippet at path 'none.md' could not be found"),
    "two_outputs": (
        BLOCK.format(1) + '\n```text title="Output"\n1\n```\n' * 2,
        "docs/two_outputs.md:11: Found <!--pytest-codeblocks-expected-output",
    ),
}
STRICT = "  --strict-markers\nxfail_strict = true\nmarkers =\n  slow\nfilterwarnings = error\n"


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run pages that leave blocks out, that are no pages, and that say so with marks of pytest."""
    output = '\n```text title="output"\nx\n```\n'
    pages = {f"docs/{name}.md": page for name, (page, _) in REFUSED.items()}
    pages |= {
        "docs/never.md": MARKED.format("not_run('needs a cluster')") + output,
        "docs/perhaps.md": MARKED.format("skipif(False, reason='')").replace("raise", "0 and"),
        "docs/slow.md": MARKED.format("slow"),
        "docs/here.md": MARKED.format("skipif(True, reason='not here')"),
        "docs/build/ignored.md": BLOCK.format(1),
    }
    site = sites.write(tmp_path_factory.mktemp("marked"), pages, ini=STRICT)
    return sites.run(site, "--continue-on-collection-errors", "--ignore=docs/build", "docs")


@pytest.mark.parametrize("name", REFUSED)
def test_a_page_that_is_refused_says_why(name: str, marked: Run) -> None:
    """The message has the place, and no traceback of the runner."""
    (item,) = marked.pages[name]
    assert item.text.startswith(REFUSED[name][1]), item.text
    assert "Traceback" not in marked.printed


def test_what_marks_leave_out_is_counted(marked: Run) -> None:
    """A block that a mark may leave out counts as not run, though it may have run here."""
    assert marked.pages["never"][0][1:] == ("skipped", "needs a cluster")
    assert marked.pages["perhaps"][0].outcome == "passed"
    assert marked.pages["here"][0][1:] == ("skipped", "not here")
    assert "docs: 4 pages, 5 blocks collected, 2 run, 4 not run\n" in marked.printed


def test_what_pytest_is_told_to_ignore_is_ignored(marked: Run) -> None:
    """A folder that the user leaves out stays out, whatever MkDocs publishes."""
    assert "ignored" not in marked.pages


def test_too_many_blocks_left_out_fail_the_run(tmp_path: Path) -> None:
    """A run in which nothing fails has failed if too much is left out, whatever `-m` selects."""
    pages = {
        "docs/a.md": MARKED.format("not_run('so')"),
        "docs/b.md": MARKED.format("skip"),
        "docs/c.md": BLOCK.format(1),
    }
    site = sites.write(tmp_path, pages, ini="docs_max_not_run = 1\n")
    run = sites.run(site, "-m", "not_run", "docs")

    assert run.pages["a"][0].outcome == "skipped"
    assert set(run.pages) == {"a"}
    assert "docs: 3 pages, 3 blocks collected, 0 run, 2 not run\n" in run.printed
    assert "marks may leave out 1 block at most, not docs/a.md:4, docs/b.md:4" in run.printed
    assert run.status == pytest.ExitCode.TESTS_FAILED


def _pages(**attributes: object) -> _collect.Pages:
    """Make what a session knows, of the options that it reads."""
    options: dict[str, Any] = {
        "docs_loaders": [],
        "pythonpath": [],
        "docs_max_not_run": 1,
        "docs_timeout": 1,
    }
    invoked = SimpleNamespace(dir=Path.cwd())
    config: Any = SimpleNamespace(getini=options.get, invocation_params=invoked, **attributes)
    return _collect.Pages(config)


def test_workers_hand_over_what_they_counted() -> None:
    """Each worker of pytest-xdist collects everything and runs a part; one that crashed, none."""
    session: Any = SimpleNamespace(exitstatus=pytest.ExitCode.OK)
    first, second = Place("a.md", 3), Place("b.md", 5)
    pages = _pages()
    for run in (2, 3):
        worker = _pages(workeroutput={})
        worker.pages, worker.collected, worker.run = 4, 7, run
        worker.left_out = [first, second]
        worker.pytest_sessionfinish(session)
        pages.pytest_testnodedown(
            SimpleNamespace(workeroutput=vars(worker._config)["workeroutput"])
        )
        worker.pytest_unconfigure()
    pages.pytest_testnodedown(SimpleNamespace())
    assert (pages.pages, pages.collected, pages.run) == (4, 7, 5)
    assert pages.left_out == [first, second]
    session.exitstatus = pytest.ExitCode.OK
    pages.pytest_sessionfinish(session)
    assert session.exitstatus == pytest.ExitCode.TESTS_FAILED
    pages.pytest_unconfigure()


def test_the_options_reach_the_blocks(tmp_path: Path) -> None:
    """The site's file, the limit, variables and loaders come from pytest's configuration."""
    code = "import os, threading\nassert 'PLANT' not in os.environ\nthreading.Event().wait()"
    files = {
        "etc/site.yml": f"{PLAIN}docs_dir: ../docs\nmarkdown_extensions: [pymdownx.superfences]\n",
        "docs/page.md": f'# T\n\n```conf title="a.conf"\nx\n```\n\n```python\n{code}\n```\n',
        "docs/broken.md": BLOCK.format(1),
        "conftest.py": "def pytest_runtest_setup(item):\n    'broken' in item.nodeid and 1 / 0\n",
        "check.py": "def read(path):\n    assert path.read_text() == 'y\\n'\n",
    }
    ini = (
        "docs_config = etc/site.yml\ndocs_timeout = 0.5\ndocs_unset_env = PLANT\n"
        "docs_loaders =\n  *.conf = check:read\npythonpath = .\n"
    )
    site = sites.write(tmp_path, files, ini=ini)
    (site / "mkdocs.yml").unlink()
    pages = sites.run(site, environ={"PLANT": "1"}).pages
    loaded, hung = pages["page"]
    assert "check.py:2: in read" in loaded.text
    assert "still running after 0.5 s" in hung.text
    assert "ZeroDivisionError" in pages["broken"][0].text  # pytest's own troubles look as ever


def test_a_loader_that_is_none_is_refused() -> None:
    """The option is read before a block runs."""
    config: Any = SimpleNamespace(getini={"docs_loaders": ["a.conf"]}.get)
    with pytest.raises(pytest.UsageError, match=r"'TITLE = module:function', not 'a\.conf'"):
        _collect.Pages(config)


def test_a_configuration_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """A wrong name in pytest's configuration is said for each page, and no block runs."""
    pages = {"docs/page.md": BLOCK.format(1), "docs/build/page.md": BLOCK.format(1)}
    run = sites.run(sites.write(tmp_path, pages, ini="docs_config = none.yml\n"))
    assert run.status == pytest.ExitCode.INTERRUPTED
    assert "docs_config names 'none.yml', but there is no file" in run.printed


def test_a_page_of_no_site_is_refused(tmp_path: Path) -> None:
    """A page that lies below no `mkdocs.yml` cannot be read, and the message says what to do."""
    with pytest.raises(FileNotFoundError, match="Name the site's configuration with the option"):
        Site.find(tmp_path / "page.md", tmp_path)
    (tmp_path / "mkdocs.yaml").touch()
    assert Site.find(tmp_path / "a/b/page.md", tmp_path) == tmp_path / "mkdocs.yaml"


def test_without_the_switch_nothing_is_collected(tmp_path: Path) -> None:
    """The plugin may stay switched on in a project's configuration."""
    site = sites.write(tmp_path, {"docs/page.md": BLOCK.format(1)})
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "docs"]
    ended = subprocess.run(command, cwd=site, capture_output=True, check=False, timeout=50)
    assert ended.returncode == pytest.ExitCode.NO_TESTS_COLLECTED


def test_lines_are_counted_as_the_file_has_them(tmp_path: Path) -> None:
    """An extension that takes lines away before includes are read does not shift the rest."""
    config = "site_name: T\ntheme: {name: mkdocs}\nmarkdown_extensions: [cut, pymdownx.snippets]\n"
    cut = """\
        from markdown import Extension
        from markdown.preprocessors import Preprocessor

        class Cut(Preprocessor):
            def run(self, lines):
                return ["added", *lines[2:]]

        class CutExtension(Extension):
            def extendMarkdown(self, md):
                md.preprocessors.register(Cut(md), "cut", 100)

        def makeExtension(**options):
            return CutExtension(**options)
    """
    site = sites.write(tmp_path, {"docs/page.md": f"a\n\n{BLOCK}"}, config=config)
    (site / "cut.py").write_text(dedent(cut), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(site), *sys.path])
        page = Site(site / "mkdocs.yml").read(site / "docs/page.md")
    (fence,) = page.fences
    assert page.places[fence.start] == Place(str(site / "docs/page.md"), 5)


def test_tabs_are_kept_where_the_site_keeps_them(tmp_path: Path) -> None:
    """A site may have SuperFences keep tabs; the block then has them, once, and its lines."""
    config = f"{PLAIN}markdown_extensions:\n  - pymdownx.superfences: {{preserve_tabs: true}}\n"
    site = sites.write(tmp_path, {"docs/page.md": "# T\n\n```python\n\tx\n```\n"}, config=config)
    page = Site(site / "mkdocs.yml").read(site / "docs/page.md")
    assert [(fence.source, fence.start) for fence in page.fences] == [("\tx", 2)]
    assert not list(page.stray_fences())


def test_an_escaped_include_is_shown(tmp_path: Path) -> None:
    """A page about includes shows their notation, after an include of its own."""
    text = '# T\n\n--8<-- "part.txt"\n\n```text\n;--8<-- "part.txt"\n```\n'
    config = f"{PLAIN}markdown_extensions: [pymdownx.snippets, pymdownx.superfences]\n"
    site = sites.write(tmp_path, {"docs/page.md": text, "part.txt": "a\nb\n"}, config=config)
    (fence,) = Site(site / "mkdocs.yml").read(site / "docs/page.md").fences
    assert fence.source == '--8<-- "part.txt"'


def test_a_fence_that_its_format_refuses_is_no_block(tmp_path: Path) -> None:
    """A site's own kind of fence may refuse a block; the build then shows it as text."""
    config = f"""{PLAIN}
markdown_extensions:
  - pymdownx.superfences:
      custom_fences:
        - name: odd
          class: odd
          format: !!python/name:tests.docs_testing.test_collect.refuse
"""
    site = sites.write(tmp_path, {"docs/page.md": "# T\n\n```odd\nx\n```\n"}, config=config)
    page = Site(site / "mkdocs.yml").read(site / "docs/page.md")
    assert page.fences == []
    assert [place.line for place in page.stray_fences()] == [3, 5]


def refuse(*_: object, **__: object) -> None:
    """Refuse a block."""
