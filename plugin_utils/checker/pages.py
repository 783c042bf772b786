"""The documentation pages of the rules, made from the docstrings of their modules.

`python -m plugin_utils.checker.pages docs/reference/rules` writes them; a test compares.
"""

from __future__ import annotations

import sys
from pathlib import Path

from plugin_utils.checker.rules import PAGES, Page

__all__ = ("page", "write")


def page(rule: Page) -> str:
    """Return the page that explains a code, in Markdown."""
    return f"# {rule.code}: {rule.title}\n\n**Level:** {rule.levels}.\n\n{rule.text.strip()}\n"


def write(folder: Path) -> None:
    """Write one page a code into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for code, rule in PAGES.items():
        (folder / f"{code}.md").write_text(page(rule), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
