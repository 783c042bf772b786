"""What the site offers to programs that read: `llms.txt`, and each page's Markdown."""

import re
from pathlib import Path

from tests.docs import built


def test_llms_txt_lists_every_page(site: Path, pages: list[Path]) -> None:
    """The list names each page's Markdown, and nothing that is not there."""
    text = (site / "llms.txt").read_text("utf-8")
    assert text.startswith("# Thread-safe lazy singletons\n\n> ")
    listed = set(re.findall(r"^- \[.+?\]\((.+?)\)", text, re.MULTILINE))
    html = {page.relative_to(site) for page in pages if page.name != "404.html"}
    assert listed == {page.with_suffix(".md").as_posix() for page in html}
    assert all((site / name).is_file() for name in listed)


def test_markdown_can_be_read_alone(site: Path) -> None:
    """Included files and docstrings are in their places."""
    texts = {
        page.relative_to(site).as_posix(): page.read_text("utf-8") for page in site.rglob("*.md")
    }
    assert "def register(ctx: Any)" in texts["tutorial/first-singleton.md"]
    assert "Holds at most one instance per process" in texts["reference/primitives.md"]
    for name, text in texts.items():
        if name != "contributing/add-a-recipe.md":  # its template shows the line itself
            assert not re.search(r"^\s*--8<-- ", text, re.MULTILINE), name
        assert not re.search(r"^::: ", text, re.MULTILINE), name


def test_each_page_names_its_markdown(site: Path, pages: list[Path]) -> None:
    """A page's head leads to its Markdown."""
    for page in pages:
        if page.name == "404.html":
            continue
        found = [
            each.attributes["href"]
            for each in built.read(page)
            if each.attributes.get("type") == "text/markdown"
        ]
        assert [(page.parent / name).resolve() for name in found] == [
            (site / page.relative_to(site)).with_suffix(".md").resolve()
        ]
