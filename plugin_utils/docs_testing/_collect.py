"""Collect the blocks of pages as pytest items, and sum up what became of them."""

from collections.abc import Callable, Generator, Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

import pytest
from _pytest._code.code import TerminalRepr
from mkdocs.exceptions import ConfigurationError
from mkdocs.utils import is_markdown_file
from pymdownx.snippets import SnippetMissingError
from pytest_codeblocks.plugin import MarkdownFile

from plugin_utils.docs_testing._block import Block, PageError, Place
from plugin_utils.docs_testing._extract import blocks
from plugin_utils.docs_testing._marks import Plan, plan
from plugin_utils.docs_testing._pages import Site
from plugin_utils.docs_testing._runner import Options, Runner

__all__ = ("Pages",)

COUNTS = "plugin_utils.docs_testing"
"""The key of what a worker of pytest-xdist counted."""


class BlockFailedError(Exception):
    """A block is not as its page says; the message is the whole report."""


class Pages:
    """What one pytest session knows about its pages. Its `pytest_...` methods are pytest's hooks.

    Args:
        config: The session's configuration.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.runner = Runner(_options(config))
        self.pages = self.collected = self.run = 0
        self.left_out: list[Place] = []
        self._config = config
        self._limit: int = config.getini("docs_max_not_run")
        self._sites: dict[Path, Site] = {}

    def site(self, page: Path) -> Site:
        """Return the site of a page; each `mkdocs.yml` is read once."""
        root = self._config.rootpath
        named: str = self._config.getini("docs_config")
        file = root / named if named else Site.find(page, root)
        if not file.is_file():
            message = f"docs_config names {named!r}, but there is no file {file}"
            raise FileNotFoundError(message)
        if file not in self._sites:
            self._sites[file] = Site(file)
        return self._sites[file]

    def count(self, items: Sequence["BlockItem"]) -> None:
        """Count a page and its blocks."""
        self.pages += 1
        for item in items:
            self.collected += item.block.fences
            if item.marks.not_run:
                self.left_out += [item.block.place] * item.block.fences

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        """Read pages in the place of pytest-codeblocks, under all the names that MkDocs takes."""
        nodes = yield
        others = [node for node in nodes if type(node) is not MarkdownFile]
        if is_markdown_file(str(file_path)):
            others.append(_node(PageFile, parent, pages=self, path=file_path))
        return others

    @pytest.hookimpl(wrapper=True)
    def pytest_ignore_collect(
        self, collection_path: Path
    ) -> Generator[None, bool | None, bool | None]:
        """Look into a folder of pages even if it is called `build`: MkDocs does, too."""
        ignored = yield
        asked = self._config.getoption("ignore") or self._config.getoption("ignore_glob")
        if ignored and not asked and collection_path.is_dir():
            try:
                return not self.site(collection_path).has_pages(collection_path)
            except FileNotFoundError:
                return True
        return ignored

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add what a worker of pytest-xdist ran. Each of them collects every page."""
        output = getattr(node, "workeroutput", {})  # a worker that crashed has none
        self.pages, self.collected, run, places = output.get(
            COUNTS, (self.pages, self.collected, 0, self.left_out)
        )
        self.run += run
        self.left_out = [Place(*place) for place in places]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a run that leaves out too many blocks."""
        places = [tuple(place) for place in self.left_out]
        # What a worker of pytest-xdist says to the process that started it; elsewhere, to nobody.
        output: dict[str, object] = getattr(self._config, "workeroutput", {})
        output[COUNTS] = (self.pages, self.collected, self.run, places)
        if len(self.left_out) > self._limit and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say how many blocks there are and how many ran."""
        line = (
            f"docs: {self.pages} pages, {self.collected} blocks collected, {self.run} run, "
            f"{len(self.left_out)} not run"
        )
        terminalreporter.write_line(line)
        if len(self.left_out) > self._limit:
            places = ", ".join(map(str, self.left_out))
            count = f"{self._limit} block{'s'[self._limit == 1 :]}"
            message = f"docs: marks may leave out {count} at most, not {places}"
            terminalreporter.write_line(message, red=True)

    def pytest_unconfigure(self) -> None:
        """End what is still running."""
        self.runner.close()


def _options(config: pytest.Config) -> Options:
    loaders = dict[str, str]()
    for line in config.getini("docs_loaders"):
        title, equals, function = line.partition("=")
        if not equals or ":" not in function:
            message = f"docs_loaders takes lines 'TITLE = module:function', not {line!r}"
            raise pytest.UsageError(message)
        loaders[title.strip()] = function.strip()
    return Options(
        base=config.invocation_params.dir,
        limit=config.getini("docs_timeout"),
        unset=config.getini("docs_unset_env"),
        path=[str(path) for path in config.getini("pythonpath")],
        loaders=loaders,
    )


_Node = TypeVar("_Node", bound=pytest.Collector | pytest.Item)


def _node(kind: type[_Node], parent: pytest.Collector, **values: Any) -> _Node:
    """Make a node as pytest wants it made, and give it the values that its class declares."""
    names = {"name", "path"} & values.keys()
    make: Callable[..., _Node] = attrgetter("from_parent")(kind)  # half annotated
    node = make(parent, **{name: values.pop(name) for name in names})
    vars(node).update(values)
    return node


class PageFile(pytest.File):
    """A page; collects its blocks as its site shows them."""

    pages: Pages

    def collect(self) -> Iterator[pytest.Item]:
        """Make an item of each block, and one of each line that is a fence to readers only."""
        try:
            site = self.pages.site(self.path)
            if not site.publishes(self.path):
                return
            page = site.read(self.path)
            parts = [page, *site.docstrings(page)]
            items = [self._item(block, site) for part in parts for block in blocks(part)]
        except (
            ConfigurationError,
            FileNotFoundError,
            PageError,
            SnippetMissingError,
        ) as error:
            raise self.CollectError(str(error)) from error
        self.pages.count(items)
        yield from items
        for place in (place for part in parts for place in part.stray_fences()):
            yield _node(StrayFence, self, name=_name(place, self.path), place=place)

    def _item(self, block: Block, site: Site) -> "BlockItem":
        name = _name(block.place, self.path)
        try:
            marks = plan(block.marks, block.importorskip)
            item = _node(
                BlockItem, self, name=name, block=block, marks=marks, site=site, pages=self.pages
            )
            for mark, args, options in marks.others:
                item.add_marker(getattr(pytest.mark, mark)(*args, **options))
        except (ValueError, pytest.fail.Exception) as error:  # the latter: there is no such mark
            raise PageError(block.place, str(error)) from error
        return item


def _name(place: Place, page: Path) -> str:
    """Name an item by its line, and by its file if that is not the page."""
    return f"line {place.line}" if place.file == str(page) else f"{place}"


class _Line(pytest.Item):
    """What is tested at one place of a page."""

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> str | TerminalRepr:
        """Show the block's own report: the traceback of the runner says nothing."""
        if isinstance(excinfo.value, BlockFailedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)


class BlockItem(_Line):
    """A block; runs in a process of its own."""

    block: Block
    marks: Plan
    site: Site
    pages: Pages

    def runtest(self) -> None:
        """Run the block and tell pytest what became of it."""
        if self.marks.never:
            pytest.skip(str(self.marks.not_run))
        report = self.pages.runner.run(self.block, self.marks, self.site.config_file)
        self.add_report_section("call", "stdout", report.stdout)
        self.add_report_section("call", "stderr", report.stderr)
        if report.verdict == "skipped":
            pytest.skip(report.text)
        self.pages.run += self.block.fences
        if report.verdict == "xfailed":
            pytest.xfail(report.text)
        if report.verdict == "failed":
            raise BlockFailedError(report.text)

    def reportinfo(self) -> tuple[str, int, str]:
        """Say where the block stands."""
        place = self.block.place
        return place.file, place.line - 1, f"{place} ({self.block.language})"


class StrayFence(_Line):
    """A line that looks like a fence, but shows no block; it always fails."""

    place: Place

    def runtest(self) -> None:
        """Fail."""
        message = (
            f"{self.place}: MkDocs does not read this line as a fence, so what should be a block "
            "is text: the fence is never closed, has an option that is not known, or stands where "
            "no fence can. Mend the fence."
        )
        raise BlockFailedError(message)

    def reportinfo(self) -> tuple[str, int, str]:
        """Say where the line stands."""
        return self.place.file, self.place.line - 1, f"{self.place} (no fence)"
