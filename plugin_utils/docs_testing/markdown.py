"""Show the marks to the reader: a Markdown extension for the site's `mkdocs.yml`.

    markdown_extensions:
      - plugin_utils.docs_testing.markdown

A mark is an HTML comment, which no reader sees. With this extension the marks that change what a
block means become a line above it:

- `goes_wrong("races")`: a badge, `<p class="goes-wrong goes-wrong--races">`; `hangs` and `leaks`
  likewise.
- `not_run("reason")`: the reason, `<p class="not-run">`.
- `runs_as("command")`: the command that the tests run instead, `<p class="runs-as">`.

The texts are options of the extension; `{}` stands for the reason or the command.
"""

import re
from html import escape
from typing import Any

from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor

from plugin_utils.docs_testing._marks import Call, parse

__all__ = ("MarksExtension", "makeExtension")

_LINE = re.compile(r"(?P<indent>[>\s]*)<!--[-\s]*(?P<mark>pytest\.mark\..*?)[-\s]*-->\s*")

# After fences (25) have been taken out of the text, before raw HTML (20) is.
PRIORITY = 22


class MarksExtension(Extension):
    """Renders the marks of blocks."""

    def __init__(self, **options: Any) -> None:
        self.config = {
            "races": ["Wrong on purpose: this code races.", "above a block that races"],
            "hangs": ["Wrong on purpose: this code hangs.", "above a block that hangs"],
            "leaks": ["Wrong on purpose: this code leaks.", "above a block that leaks"],
            "not_run": ["Not run by the tests: {}", "above a block that is not run"],
            "runs_as": ["The tests run {} instead.", "above a block with a substitute"],
        }
        super().__init__(**options)

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - Markdown's own name
        """Register the preprocessor."""
        texts = {name: str(text) for name, text in self.getConfigs().items()}
        md.preprocessors.register(_Marks(md, texts), "docs_testing_marks", PRIORITY)


def makeExtension(**options: Any) -> MarksExtension:  # noqa: N802 - Markdown's own name
    """Return the extension; Markdown calls this when the site names the module."""
    return MarksExtension(**options)


class _Marks(Preprocessor):
    def __init__(self, md: Markdown, texts: dict[str, str]) -> None:
        super().__init__(md)
        self._texts = texts

    def run(self, lines: list[str]) -> list[str]:
        """Put a paragraph in the place of each mark that has something to say."""
        result: list[str] = []
        for line in lines:
            match = _LINE.fullmatch(line)
            html = self._render(parse(match["mark"])) if match else None
            if match and html:
                indent = match["indent"]
                # Paragraphs of their own: the fence below may follow without a blank line.
                blank = indent.rstrip()
                result += [blank, indent + self.md.htmlStash.store(html), blank]
            else:
                result.append(line)
        return result

    def _render(self, mark: Call) -> str | None:
        match mark.name:
            case "goes_wrong":
                kind = mark.text()
                return f'<p class="goes-wrong goes-wrong--{kind}">{escape(self._texts[kind])}</p>'
            case "not_run":
                return f'<p class="not-run">{self._fill("not_run", escape(mark.text()))}</p>'
            case "runs_as":
                command = f"<code>{escape(mark.text())}</code>"
                return f'<p class="runs-as">{self._fill("runs_as", command)}</p>'
            case _:
                return None

    def _fill(self, name: str, html: str) -> str:
        return escape(self._texts[name]).replace("{}", html)
