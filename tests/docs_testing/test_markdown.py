"""What a reader sees of the marks."""

from typing import Any

import pytest
from markdown import markdown

EXTENSION = "plugin_utils.docs_testing.markdown"


def render(text: str, **options: str) -> str:
    """Render a page as a site does that lists the extension."""
    extensions = ["pymdownx.superfences", "pymdownx.highlight", "admonition", EXTENSION]
    settings: dict[str, dict[str, Any]] = {
        "pymdownx.highlight": {"use_pygments": False},
        EXTENSION: options,
    }
    return markdown(text, extensions=extensions, extension_configs=settings)


@pytest.mark.parametrize("kind", ["races", "hangs", "leaks"])
def test_a_block_that_goes_wrong_has_a_badge(kind: str) -> None:
    """The badge has a class for its kind, and stands in a paragraph of its own."""
    html = render(f'Text.\n\n<!--pytest.mark.goes_wrong("{kind}", raises=E)-->\n```text\nx\n```\n')
    words = f"Wrong on purpose: this code {kind}."
    assert f'\n<p class="goes-wrong goes-wrong--{kind}">{words}</p>\n' in html
    assert "<!--" not in html


def test_a_block_that_is_not_run_says_why() -> None:
    """The reason is text, not markup."""
    html = render("<!--pytest.mark.not_run('needs <root> & time')-->\n```text\nx\n```\n")
    reason = "Not run by the tests: needs &lt;root&gt; &amp; time"
    assert html.startswith(f'<p class="not-run">{reason}</p>\n')


def test_a_substitute_is_shown() -> None:
    """What runs in the block's place is code."""
    html = render("<!--pytest.mark.runs_as('make -n serve')-->\n```text\nx\n```\n")
    assert '<p class="runs-as">The tests run <code>make -n serve</code> instead.</p>' in html


def test_the_words_are_the_sites_own() -> None:
    """Each text is an option of the extension."""
    html = render("<!--pytest.mark.not_run('so')-->\n", not_run="Nicht geprüft: {}")
    assert html == '<p class="not-run">Nicht geprüft: so</p>'


def test_a_mark_stands_in_other_things() -> None:
    """A mark keeps the indentation and the quote signs of its block."""
    mark = "<!--pytest.mark.not_run('so')-->"
    html = render(
        f"!!! note\n\n    {mark}\n    ```text\n    x\n    ```\n\n> {mark}\n> ```text\n> x\n> ```\n"
    )
    assert html.count('<p class="not-run">') == 2
    assert "<p><p" not in html
    quote = html[html.index("<blockquote>") :]
    assert quote.startswith('<blockquote>\n<p class="not-run">')


def test_other_marks_and_shown_marks_stay() -> None:
    """What says nothing to a reader stays a comment, and what is in a block stays text."""
    html = render("<!--pytest.mark.xfail-->\n```text\n<!--pytest.mark.not_run('so')-->\n```\n")
    assert "<!--pytest.mark.xfail-->" in html
    assert "&lt;!--pytest.mark.not_run" in html
    assert "not-run" not in html
