"""Takes the plugin off the tutorial's page, as its reader would.

    python -m tests.hosts.tutorial FOLDER

runs in the environment that builds the guide, since it reads the page as the build does.
"""

import sys
from pathlib import Path

from plugin_utils.docs_testing._pages import Site

__all__ = ("main",)

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorial" / "first-singleton.md"
TITLES = ("plugin.yaml", "__init__.py")


def main(folder: Path) -> None:
    """Write each block into the file that its title names."""
    page = Site(ROOT / "mkdocs.yml").read(PAGE)
    for title in TITLES:
        (source,) = [fence.source for fence in page.fences if fence.title == title]
        (folder / title).write_text(f"{source}\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
