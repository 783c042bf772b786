"""The pages for contributors: the template works, and recipes can be found."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from plugin_utils.docs_testing._pages import Site
from tests.docs import built
from tests.docs_testing.sites import run, write
from tests.support import recipe

ROOT = Path(__file__).parents[2]
RECIPES = sorted(path.name for path in (ROOT / "docs/how-to").glob("*.md"))
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def template() -> dict[str, str]:
    """Return the files that the page on recipes shows, by their names."""
    page = Site(ROOT / "mkdocs.yml").read(ROOT / "docs/contributing/add-a-recipe.md")
    return {fence.title: f"{fence.source}\n" for fence in page.fences if fence.title}


def test_template_is_a_recipe_that_passes(template: dict[str, str], tmp_path: Path) -> None:
    """In an empty site, the files of the template pass: each block of the page, and the test."""
    page, test = "docs/how-to/your-recipe.md", "tests/snippets/test_your_recipe.py"
    snippets = {"snippets/racy/your_recipe.py", "snippets/fixed/your_recipe.py"}
    assert set(template) == {page, test, *snippets}
    done = run(write(tmp_path, template), "docs", test)
    assert done.status == 0, done.printed
    outcomes = [item.outcome for item in done.pages["your-recipe"]]
    assert len(outcomes) == 3, done.printed


def test_template_fails_without_its_fault(template: dict[str, str], tmp_path: Path) -> None:
    """A recipe whose racy snippet does not race is refused: the template is really run."""
    mended = {
        **template,
        "snippets/racy/your_recipe.py": template["snippets/fixed/your_recipe.py"],
    }
    assert run(write(tmp_path, mended)).status == 1


def test_template_has_the_sections_of_the_recipes(template: dict[str, str]) -> None:
    """Each section that most recipes have is in the template, and no other."""
    texts = [(ROOT / "docs/how-to" / name).read_text("utf-8") for name in RECIPES]
    usual = {
        heading
        for heading in HEADING.findall("\n".join(texts))
        if sum(heading in HEADING.findall(text) for text in texts) * 2 > len(texts)
    }
    assert usual == set(HEADING.findall(template["docs/how-to/your-recipe.md"]))


@pytest.mark.parametrize("name", RECIPES)
def test_recipe_is_one_click_away(site: Path, name: str) -> None:
    """The start page or the guide links to each recipe in its text, not only in the navigation."""
    links = {
        each.attributes.get("href", "").partition("#")[0]
        for page in ("index.html", "guide.html")
        for each in built.read(site / page)
        if each.tag == "a" and not {"md-nav__link", "md-tabs__link"} & each.classes
    }
    assert f"how-to/{Path(name).with_suffix('.html')}" in links


def test_navigation_alone_is_no_way(site: Path) -> None:
    """The links of the text are fewer than those of the navigation: the check above can fail."""
    links = {
        each.attributes.get("href", "").partition("#")[0]
        for each in built.read(site / "index.html")
        if each.tag == "a" and not {"md-nav__link", "md-tabs__link"} & each.classes
    }
    assert "reference/rules/LS001.html" not in links


def test_check_of_a_recipe_finds_what_belongs_to_it() -> None:
    """Its page, its snippets, their tests, and the tests of all pages are chosen; no other page."""
    tests = next(each for each in recipe.checks("optional-sdk") if each.name == "tests")
    collected = subprocess.run(
        [*tests.command, "--collect-only"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert collected.returncode == 0, collected.stdout
    for wanted in (
        "docs/how-to/optional-sdk.md::line ",
        "test_as_pasted.py::test_the_racy_snippet_goes_wrong[optional_sdk]",
        "test_as_pasted.py::test_the_fixed_snippet_works[double_checked_lock]",
        "tests/snippets/test_optional_sdk.py::",
        "test_contributing.py::test_recipe_is_one_click_away[optional-sdk.md]",
        *(f"::{name}\n" for name in recipe.OF_ALL_PAGES),
    ):
        assert wanted in collected.stdout
    assert "share" not in collected.stdout


def test_check_of_a_recipe_looks_at_each_file_of_it() -> None:
    """Style and types are those of the snippets that the page shows, and of their tests."""
    for name in ("lint", "format", "types (mypy)", "types (basedpyright)"):
        check = next(each for each in recipe.checks("optional-sdk") if each.name == name)
        assert set(check.command) >= {
            "snippets/racy/optional_sdk.py",
            "snippets/fixed/optional_sdk.py",
            "snippets/fixed/double_checked_lock.py",
            "tests/snippets/test_optional_sdk.py",
            *recipe.TABLES,
        }


def test_check_of_a_recipe_tells_what_failed(capfd: pytest.CaptureFixture[str]) -> None:
    """All checks run, and those that failed are named; without a site the rest has no sense."""
    passes, fails = (sys.executable, "-c", "print('here')"), (sys.executable, "-c", "exit(1)")
    wanted = [("one", fails), ("two", passes), ("site", fails), ("browser", passes)]
    assert recipe.failed(recipe.Check(*each) for each in wanted) == ["one", "site"]
    assert capfd.readouterr().out == "--- one\n--- two\nhere\n--- site\n"


def test_check_of_an_unknown_recipe_says_what_to_give(capsys: pytest.CaptureFixture[str]) -> None:
    """A name that no page has is answered with the file that is missing."""
    assert recipe.main("share_one_client") == 2
    assert "there is no docs/how-to/share_one_client.md" in capsys.readouterr().out
