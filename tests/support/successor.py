"""Builds the guide with MkDocs and with its successor, and compares them: `make properdocs`."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from plugin_utils.docs_testing.check import _shown
from tests.docs import built
from tests.support.site import build

__all__ = ("differences", "main")


def differences(one: Path, other: Path) -> list[str]:
    """Say which pages, code blocks and links only one of two built sites has."""
    return [
        f"{name}: {'gone' if part in lost else 'new'}: {part}"
        for name in sorted(_names(one) | _names(other))
        for lost, gained in [_compare(_parts(one / name), _parts(other / name))]
        for part in sorted((lost + gained).elements())
    ]


def _compare(before: Counter[str], after: Counter[str]) -> tuple[Counter[str], Counter[str]]:
    return before - after, after - before


def _names(site: Path) -> set[str]:
    return {page.relative_to(site).as_posix() for page in site.rglob("*.html")}


def _parts(page: Path) -> Counter[str]:
    if not page.is_file():
        return Counter()
    links = (each.attributes["href"] for each in built.read(page) if "href" in each.attributes)
    blocks = (f"block {block.text!r}" for block in _shown(page))
    return Counter(["the page", *(f"link {link!r}" for link in links), *blocks])


def main() -> int:
    """Build, compare and report; 1 if the sites differ."""
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Path(folder, "mkdocs"), Path(folder, "properdocs")
        build(ours, limit=300)
        build(theirs, tool="properdocs", limit=300)
        found = differences(ours, theirs)
        print(*found, f"{len(_names(ours))} pages compared, {len(found)} differences", sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
