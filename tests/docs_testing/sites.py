"""Small sites to run blocks on: by pytest in a process of its own, or by the runner alone."""

import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

from plugin_utils.docs_testing._block import Report
from plugin_utils.docs_testing._extract import blocks
from plugin_utils.docs_testing._marks import plan
from plugin_utils.docs_testing._pages import Site
from plugin_utils.docs_testing._runner import Options, Runner
from tests.docs_testing.forms import CONFIG

__all__ = ("Bench", "Item", "Run", "run", "write")

PYTEST_INI = """\
[pytest]
addopts = -p plugin_utils.docs_testing.plugin
"""


def write(folder: Path, files: Mapping[str, str], *, config: str = CONFIG, ini: str = "") -> Path:
    """Write a site of these files, and return its folder."""
    for name, text in {"mkdocs.yml": config, "pytest.ini": PYTEST_INI + ini, **files}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    (folder / "docs").mkdir(exist_ok=True)
    return folder


class Bench:
    """A site whose pages are given as text, and run without pytest around them."""

    def __init__(self, folder: Path, options: Options, files: Mapping[str, str]) -> None:
        self.folder = write(folder, files)
        self.site = Site(folder / "mkdocs.yml")
        self.runner = Runner(options)

    def run(self, page: str) -> list[Report]:
        """Write the page and return the report of each of its blocks."""
        file = self.folder / "docs/page.md"
        file.write_text(page, "utf-8")
        config = self.site.config_file
        with chdir(self.folder):  # places are shown as seen from here
            return [
                self.runner.run(block, plan(block.marks, block.importorskip), config)
                for block in blocks(self.site.read(file))
            ]

    def only(self, page: str) -> Report:
        """Return the report of the page's one block."""
        (report,) = self.run(page)
        return report


class Item(NamedTuple):
    """What pytest said of one block."""

    name: str
    outcome: str
    text: str


class Run(NamedTuple):
    """What pytest said of a site: its exit status, what it printed, and the items of each page."""

    status: int
    printed: str
    pages: Mapping[str, list[Item]]


def run(site: Path, *arguments: str, environ: Mapping[str, str] | None = None) -> Run:
    """Run pytest on the site's blocks, in a process of its own."""
    report = site / "report.xml"
    command = [sys.executable, "-m", "pytest", "--codeblocks", f"--junitxml={report}"]
    unused = ["-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "no:anyio"]
    ended = subprocess.run(
        [*command, *unused, *(arguments or ["docs"])],
        cwd=site,
        env={**os.environ, **(environ or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=50,
    )
    return Run(ended.returncode, ended.stdout, _pages(report) if report.exists() else {})


def _pages(report: Path) -> Mapping[str, list[Item]]:
    pages: defaultdict[str, list[Item]] = defaultdict(list)
    for case in ET.parse(report).iter("testcase"):  # noqa: S314 - pytest wrote it a moment ago
        named = (
            case.get("classname") or case.get("name") or ""
        )  # a page that is no page has no items
        page = named.removesuffix(".md").rpartition(".")[2]
        outcome, text = "passed", ""
        for told in case:
            if told.tag in ("failure", "error"):
                outcome, text = "failed", told.text or ""
            elif told.tag == "skipped":
                outcome = "xfailed" if told.get("type") == "pytest.xfail" else "skipped"
                text = told.get("message") or ""
        pages[page].append(Item(case.get("name") or "", outcome, text))
    return pages
