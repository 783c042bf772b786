"""The documentation pages of the rules, made from the docstrings of their modules.

`python -m plugin_utils.checker.pages docs/reference/rules` writes them; a test compares.
"""

from __future__ import annotations

import sys
from pathlib import Path

from plugin_utils.checker.rules import RULES, Rule

__all__ = ("page", "write")


def page(rule: Rule) -> str:
    """Return the page that explains `rule`, in Markdown."""
    return f"# {rule.code}: {rule.title}\n\n**Level:** {rule.levels}.\n\n{rule.page.strip()}\n"


def write(folder: Path) -> None:
    """Write one page a rule into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for code, rule in RULES.items():
        (folder / f"{code}.md").write_text(page(rule), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
