"""The check of the built site: it finds what the tests do not run."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import (
    load_config,  # pyright: ignore[reportUnknownVariableType] - half annotated
)

from plugin_utils.docs_testing.__main__ import main
from plugin_utils.docs_testing._block import Place
from plugin_utils.docs_testing._pages import Site
from plugin_utils.docs_testing.check import Result, check, copied
from tests.docs_testing import sites
from tests.docs_testing.forms import FORMS, SNIPPETS

GOOD = """\
# Every block is a test

```python title="a.py" linenums="1"
x = 1 < 2  # (1)!
```

1.  A note.

!!! note

    ```bash
    echo "a & b"
    ```

```mermaid
graph LR
  A --> B
```

<!--
```python
hidden = 1
```
-->
"""
BAD = """\
---
title: Bad
---

Text:

    indented = 1
    more = 2

<pre><code>raw = 1 &lt; 2
</code></pre>

    ```text
    shown with its fence
    ```

```python shiny="yes"
option = 1
```

<!--pytest.mark.xfail-->
"""
API = """\
<div class="doc doc-object doc-function">
<h2 class="doc doc-heading">f</h2>
<div class="doc-signature highlight"><pre><code>f(x)</code></pre></div>
<div class="doc doc-contents">
<div class="highlight"><pre><code>{}</code></pre></div>
<details class="mkdocstrings-source"><summary>s</summary>
<table class="highlighttable"><tr><td class="linenos"><div class="linenodiv"><pre>1</pre></div></td>
<td class="code"><div class="highlight"><pre><code>def f(x): ...</code></pre></div></td></tr>
</table>
</details></div></div>
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Build a site; return its configuration and the folder of its HTML."""
    files = {f"docs/{name}.md": form.page for name, form in FORMS.items()}
    files |= {f"snippets/{name}": text for name, text in SNIPPETS.items()}
    files |= {"docs/good.md": GOOD, "docs/bad.md": BAD}
    return _build(sites.write(tmp_path_factory.mktemp("built"), files))


def _build(site: Path) -> tuple[Path, Path]:
    config = load_config(str(site / "mkdocs.yml"), site_dir=str(site / "site"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(site)
        build(config)
    return site / "mkdocs.yml", site / "site"


@pytest.fixture(scope="module")
def result(built: tuple[Path, Path]) -> Result:
    """Check that site."""
    return check(*built)


def test_what_the_tests_run_is_found_in_the_html(result: Result) -> None:
    """Every form, and every block of a good page, is matched with the text that a reader copies."""
    bad = {"bad.md", "indented_code.md", "unclosed.md", "unknown_option.md"}
    named = {Path(problem.partition(":")[0]).name for problem in result.problems}
    assert named == bad


@pytest.mark.parametrize(
    "problem",
    [
        "bad.md:7: an indented code block, so no test runs it: 'indented = 1'",
        "bad.md:10: a raw <pre>, so no test runs it: 'raw = 1 < 2'",
        "bad.md:13: a fence that MkDocs shows as text, so no test runs it: '```text'",
        "bad.md:17: a fence to a reader, but not to MkDocs: never closed, or an unknown option",
        "bad.md:21: a mark with no block below it",
        "unclosed.md:3: a fence to a reader, but not to MkDocs: never closed, or an unknown option",
        "indented_code.md:5: an indented code block, so no test runs it: 'import log'",
    ],
)
def test_what_no_test_runs_is_named(problem: str, result: Result) -> None:
    """Each problem has its page and line."""
    assert any(found.endswith(problem) for found in result.problems), result.problems


def test_blocks_are_counted(result: Result) -> None:
    """The counts say how much was compared."""
    counts = result.counts
    assert counts["found"] == counts["matched"] + counts["unmatched"]
    assert (counts["mermaid"], counts["api"]) == (2, 0)
    assert counts["hidden"] == 4  # two forms, one here, and one fence that is shown as text
    assert str(result).startswith(f"{counts['found']} found, {counts['matched']} matched, ")


@pytest.fixture
def small(tmp_path: Path) -> tuple[Path, Path]:
    """Build a site of one page with one block."""
    page = "# T\n\n```python\n1\n```\n\n::: module\n"
    return _build(sites.write(tmp_path, {"docs/index.md": page}))


def _append(html: Path, text: str) -> None:
    html.write_text(html.read_text("utf-8").replace("</body>", f"{text}</body>"), "utf-8")


@pytest.mark.parametrize(
    ("example", "problems"), [("&gt;&gt;&gt; f(1)\n1", 0), ("f(1)  # shown, but no doctest", 1)]
)
def test_signatures_are_exempt_and_examples_are_not(
    example: str, problems: int, small: tuple[Path, Path]
) -> None:
    """Of what mkdocstrings adds, signatures and sources are counted, and so is a doctest."""
    _append(small[1] / "index.html", API.format(example))
    result = check(*small)
    counts = Counter(found=4, matched=1, api=2, docstring=1, page=1, unmatched=problems)
    assert +result.counts == +counts
    assert len(result.problems) == problems
    assert all(
        "index.md:7: an example in a docstring that no test runs" in problem
        for problem in result.problems
    )


def test_examples_that_pytest_collects_are_matched(small: tuple[Path, Path]) -> None:
    """A fence of a docstring that the page shows is a tested block."""
    source = small[0].parent / "module.py"
    source.write_text('"""M.\n\n```python\nf(1)\n```\n"""\n', "utf-8")
    _append(small[1] / "index.html", API.format("f(1)"))
    result = check(*small)
    assert (result.problems, result.counts["matched"]) == ([], 2)


def test_a_block_that_a_plugin_adds_is_found(small: tuple[Path, Path]) -> None:
    """A page's HTML may hold a block that its source does not."""
    _append(small[1] / "index.html", "<p><pre><code>added = 1</code></pre>")
    (problem,) = check(*small).problems
    assert problem.endswith(
        "index.md:1: a block that is in no fence of the page, so no test runs it: 'added = 1'"
    )


def test_pages_without_a_source_repeat_blocks_of_others(small: tuple[Path, Path]) -> None:
    """A page that a plugin makes may show tested blocks, and signatures, but no others."""
    page = small[1] / "all.html"
    page.write_text(f"<pre><code>1\n</code></pre>{API.format('&gt;&gt;&gt; 1')}", "utf-8")
    assert check(*small).problems == []
    page.write_text("<pre><code>2\n</code></pre>", "utf-8")
    (problem,) = check(*small).problems
    assert problem == f"{page}: a block that is on no page of the sources, so no test runs it: '2'"


def test_a_block_that_is_shown_twice_is_tested_twice(small: tuple[Path, Path]) -> None:
    """Text that is equal does not hide a block of which there is one too many."""
    _append(small[1] / "index.html", "<pre><code>1</code></pre>")
    assert len(check(*small).problems) == 1


def test_a_page_that_is_not_built_is_named(small: tuple[Path, Path]) -> None:
    """An old build does not pass for the present one."""
    (small[0].parent / "docs/new.md").write_text("# New\n", "utf-8")
    (problem,) = check(*small).problems
    assert "new.md:1: not built: no " in problem


def test_copy_drops_annotations() -> None:
    """The marks of annotations are no part of what is copied."""
    shown = "\n\nx = 1  # (1)!\n# (12)!\ny = 2  # (3) is no mark\nz: 1 // (1)!\n\n"
    assert copied(shown) == "x = 1\n\ny = 2  # (3) is no mark\nz: 1"


def test_the_command_reports(small: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """The command prints problems and counts, and fails if there is a problem."""
    arguments = ["check", *map(str, small)]
    assert main(arguments) == 0
    counts = "1 found, 1 matched, 0 unmatched, 0 api, 0 docstring, 0 mermaid, 0 hidden"
    assert capsys.readouterr().out == f"blocks of the built site: {counts}\n"
    _append(small[1] / "index.html", "<pre><code>2</code></pre>")
    assert main(arguments) == 1
    assert "a block that is in no fence" in capsys.readouterr().out


def test_the_command_says_what_it_does_not_find(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that is not there is an error of use."""
    with pytest.raises(SystemExit, match="2"):
        main(["check", str(tmp_path / "none.yml"), str(tmp_path)])
    assert "there is no '" in capsys.readouterr().err


def test_without_the_extra_the_command_names_it(
    small: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where MkDocs is missing, the message says what brings it."""
    monkeypatch.delitem(sys.modules, "plugin_utils.docs_testing.check")
    monkeypatch.delitem(sys.modules, "plugin_utils.docs_testing._pages")
    monkeypatch.setitem(sys.modules, "mkdocs.utils", None)
    with pytest.raises(SystemExit, match="2"):
        main(["check", *map(str, small)])
    assert "needs the extra 'docs' of plugin-utils" in capsys.readouterr().err


def test_the_help_says_that_pages_are_executed() -> None:
    """Nobody runs a stranger's pages without having been told."""
    command = [sys.executable, "-m", "plugin_utils.docs_testing", "--help"]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)
    assert "running them EXECUTES YOUR PAGES" in ended.stdout


def test_a_place_outside_the_working_directory_is_shown_whole(tmp_path: Path) -> None:
    """A path is shortened only where that leaves it valid."""
    assert str(Place(str(tmp_path / "a.md"), 3)) == f"{tmp_path}/a.md:3"
    assert Site(sites.write(tmp_path, {}) / "mkdocs.yml").pages == {}
