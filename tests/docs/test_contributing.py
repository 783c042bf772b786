"""The pages for contributors: the template works, and recipes can be found."""

import re
from pathlib import Path

import pytest

from plugin_utils.docs_testing._pages import Site
from tests.docs import built
from tests.docs_testing.sites import run, write

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
