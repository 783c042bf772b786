"""The data that goes from a page to the process that runs a block, and back."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

__all__ = ("Block", "BlockError", "Job", "Outcome", "PageError", "Place", "Report", "Verdict")

Verdict = Literal["passed", "failed", "skipped", "xfailed"]


class Place(NamedTuple):
    """A line of a page, or of a file that the page includes."""

    file: str
    line: int

    def __str__(self) -> str:
        """Write `file:line` as seen from the working directory, when the file lies below it."""
        path = Path(self.file)
        here = Path.cwd()
        return f"{path.relative_to(here) if path.is_relative_to(here) else path}:{self.line}"


class BlockError(AssertionError):
    """A block is not as the page says; the message begins with the place and needs no traceback."""

    reports_cause: ClassVar = True
    """A mark may name the class of the error that this one was raised from."""

    def __init__(self, place: Place, message: str) -> None:
        super().__init__(place, message)

    def __str__(self) -> str:
        """Write the place as seen from where the message is shown, not from the block's folder."""
        place, message = self.args
        return f"{place}: {message}"


class PageError(ValueError):
    """A page says something that no block can be made of; the message begins with the place."""

    def __init__(self, place: Place, message: str) -> None:
        super().__init__(f"{place}: {message}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One test: a block with its continuations, its expected output and its marks."""

    page: str
    place: Place
    """Where the opening fence stands."""
    language: str
    title: str
    code: str
    lines: tuple[Place, ...]
    """Where each line of `code` comes from; as many as `code` has lines, and so at least one."""
    expected_output: str | None
    output_place: Place
    """Where the opening fence of the expected output stands; without one, the same as `place`."""
    ignore_whitespace: bool
    importorskip: str | None
    marks: tuple[str, ...]
    """The marks as written, without `<!--` and `-->`."""
    fences: int
    """How many fences of the page this test covers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What the process of one block has to know."""

    block: Block
    config: str
    """The site's `mkdocs.yml`; its folder is the project root."""
    base: str
    """The folder that shown paths are relative to."""
    folder: str
    """The temporary folder of this run: `home`, `work`, `tmp`, the outputs and the outcome."""
    environ: dict[str, str]
    limit: float
    """Seconds until the process gives up."""
    in_root: bool = False
    """Whether the block's working directory is the project root."""
    loader: str | None = None
    """A project's own function for the block, as `module:function`."""

    def save(self) -> Path:
        """Write the job into its folder and return the file."""
        file = Path(self.folder, "job.json")
        file.write_text(json.dumps(asdict(self)), "utf-8")
        return file

    @classmethod
    def load(cls, file: str) -> "Job":
        """Read what `save` wrote."""
        data = json.loads(Path(file).read_text("utf-8"))
        block = data.pop("block")
        for name in ("place", "output_place"):
            block[name] = Place(*block[name])
        block["lines"] = tuple(Place(*line) for line in block["lines"])
        block["marks"] = tuple(block["marks"])
        return cls(block=Block(**block), **data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a block in its process. What it printed is compared when that has ended."""

    verdict: Verdict | None = None
    """Set if there is nothing left to judge, as when the block was skipped; `text` says why."""
    text: str = ""
    expects: str = ""
    """The mark that says how it ends, if one does: `goes_wrong` or `xfail`."""
    mark: str = ""
    """That mark as written."""
    reason: str = ""
    strict: bool = True
    failures: list[str] = field(default_factory=list[str])
    unwanted: bool = False
    """Whether one of the failures is not what the mark names."""
    output_may_differ: bool = False
    """Whether a wrong output is what the mark names."""
    said: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """What each prompt of a session printed, and the error that ended it."""


@dataclass(frozen=True, slots=True)
class Report:
    """How a block fared; `text` says why when it did not simply pass."""

    verdict: Verdict
    text: str = ""
    stdout: str = ""
    stderr: str = ""
