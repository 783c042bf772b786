"""Reads the tables of a page, as written in its Markdown."""

import re
from pathlib import Path

__all__ = ("ROOT", "codes", "table")

ROOT = Path(__file__).parents[2]


def table(page: str, first_heading: str) -> list[list[str]]:
    """Return the rows of the table whose first column has this heading, without its head."""
    lines = iter((ROOT / page).read_text("utf-8").splitlines())
    for line in lines:
        if line.startswith(f"| {first_heading} |"):
            break
    next(lines)  # the rule below the head
    rows: list[list[str]] = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def codes(cell: str) -> list[str]:
    """Return what stands between backticks in a cell."""
    return re.findall(r"`([^`]+)`", cell)
