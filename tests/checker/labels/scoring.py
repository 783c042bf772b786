"""Matching findings with judged sites, and counting: precision, recall, their intervals."""

from __future__ import annotations

import csv
import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from plugin_utils.checker import Finding, Level

__all__ = ("Label", "Score", "match", "read_labels", "score", "site_of", "wilson")

_NEAR = 15
# These stand where the flag, the reset or the decorator is, not at the slot that is judged.
_ELSEWHERE = frozenset({"LS010", "LS012", "LS023", "LS090"})
# These stand in the function that tests, or in the one that resets, and the slot may be judged in
# the one that stores, or the other way round.
_OF_TWO_FUNCTIONS = frozenset({"LS004", "LS010", "LS012"})


@dataclass(frozen=True, slots=True)
class Label:
    """One site that somebody judged by reading."""

    package: str
    version: str
    file: str
    line: int
    function: str
    slot: str
    scope: str
    """`process`, `instance` or `local`: who shares the slot."""
    verdict: str
    """`racy`, `broken-dcl`, `racy-benign`, `safe` or `not-singleton`."""
    is_arguable: bool

    @property
    def is_bad(self) -> bool:
        """Whether the site should be reported."""
        return self.verdict in {"racy", "broken-dcl"}

    @property
    def is_held_out(self) -> bool:
        """Whether the site's file belongs to the half that the checker was not developed on.

        A hash of package and file decides, so that sites of one file stay together.
        """
        return hashlib.sha256(f"{self.package}/{self.file}".encode()).digest()[0] % 2 == 1


def site_of(label: Label) -> tuple[str, str, int, str]:
    """Return what tells the site from every other."""
    return label.package, label.file, label.line, label.slot


def read_labels(name: str = "labels.csv") -> list[Label]:
    """Return all judged sites of the file `name` beside this module."""
    with Path(__file__).with_name(name).open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))[1:]
    return [
        Label(package, version, file, int(line), function, slot, scope, verdict, arguable == "yes")
        for package, version, file, line, function, slot, scope, verdict, arguable in rows
    ]


def match(label: Label, findings: Iterable[Finding]) -> Finding | None:
    """Return the surest of the findings that are about the site of `label`."""
    about = [finding for finding in findings if _is_about(finding, label)]
    return max(about, key=lambda finding: finding.level, default=None)


def _is_about(finding: Finding, label: Label) -> bool:
    near = abs(finding.line - label.line) <= _NEAR
    same_function = _last(finding.function) == _last(label.function)
    if finding.code == "LS022":  # it stands in `__init__`, the judged site in `__new__`
        return finding.function.rpartition(".")[0] == label.function.rpartition(".")[0]
    if _last(finding.name.removesuffix("[...]")) == _last(label.slot):
        return same_function or (near and finding.code in _OF_TWO_FUNCTIONS)
    return same_function and near and finding.code in _ELSEWHERE


def _last(name: str) -> str:
    return name.rpartition(".")[2]


@dataclass(slots=True)
class Score:
    """Counts over judged sites."""

    bad: int = 0
    found: int = 0
    """Bad sites that are reported at the default level or above."""
    found_high: int = 0
    reported_high: int = 0
    right_high: int = 0
    """Reported at level high, and racy or broken."""
    benign_high: int = 0
    """Reported at level high, and racy without harm."""

    def add(self, label: Label, level: Level | None) -> None:
        """Count one site, reported at `level` or not at all."""
        is_high = level is Level.HIGH
        self.bad += label.is_bad
        self.found += label.is_bad and level is not None and level >= Level.MEDIUM
        self.found_high += label.is_bad and is_high
        self.reported_high += is_high
        self.right_high += label.is_bad and is_high
        self.benign_high += label.verdict == "racy-benign" and is_high

    def lines(self) -> list[str]:
        """Return the figures, with 95 % intervals."""
        harmless = self.right_high + self.benign_high
        return [
            f"  racy or broken among reported high  {_rate(self.right_high, self.reported_high)}",
            f"  ... counting racy-benign            {_rate(harmless, self.reported_high)}",
            f"  bad sites found, high               {_rate(self.found_high, self.bad)}",
            f"  bad sites found, high or medium     {_rate(self.found, self.bad)}",
        ]


def score(judged: Iterable[tuple[Label, Level | None]]) -> Score:
    """Count over sites and the levels at which they are reported."""
    total = Score()
    for label, level in judged:
        total.add(label, level)
    return total


def _rate(part: int, whole: int) -> str:
    low, high = wilson(part, whole)
    return f"{part:3}/{whole:<3} = {part / max(whole, 1):.2f}  [{low:.2f}, {high:.2f}]"


def wilson(part: int, whole: int, z: float = 1.96) -> tuple[float, float]:
    """Return the Wilson score interval of a proportion, by default for 95 %.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference,
    Journal of the American Statistical Association 22 (1927).
    """
    if whole == 0:
        return 0.0, 1.0
    rate, scale = part / whole, 1 + z * z / whole
    centre = (rate + z * z / (2 * whole)) / scale
    half = z * math.sqrt(rate * (1 - rate) / whole + z * z / (4 * whole * whole)) / scale
    return max(0.0, centre - half), min(1.0, centre + half)
