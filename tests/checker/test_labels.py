"""The judged sites and the arithmetic over them; the packages themselves are not needed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plugin_utils.checker import Finding, Level
from tests.checker.labels.scoring import Label, match, read_labels, score, wilson

LABEL = Label(
    package="demo",
    version="1",
    file="demo/a.py",
    line=100,
    function="Api.client",
    slot="Api._client",
    scope="process",
    verdict="racy",
    is_arguable=False,
)


def finding(code: str, line: int, function: str, name: str, level: Level = Level.HIGH) -> Finding:
    """Return a finding of which only the place matters."""
    return Finding("demo/a.py", line, 1, line, code, level, function, name, "")


def test_every_judged_site_is_complete() -> None:
    """Known verdicts and scopes, and both halves of about one size."""
    labels = read_labels()
    assert len(labels) == 276
    verdicts = {"racy", "broken-dcl", "racy-benign", "safe", "not-singleton"}
    assert {one.verdict for one in labels} == verdicts
    assert {one.scope for one in labels} == {"process", "instance", "local"}
    held_out = sum(one.is_held_out for one in labels)
    assert 0.4 < held_out / len(labels) < 0.6


def test_the_fresh_packages_are_others() -> None:
    """What the checker was developed on is not what it is measured on, and no site counts twice."""
    developed, fresh, reported = map(read_labels, ("labels.csv", "fresh.csv", "fresh_reported.csv"))
    assert not {one.package for one in developed} & {one.package for one in fresh}
    assert {(one.package, one.version) for one in reported} <= {
        (one.package, one.version) for one in fresh
    }
    assert sum(one.is_bad for one in fresh) >= 40
    sites = [(one.package, one.file, one.function, one.slot) for one in fresh + reported]
    assert len(sites) == len(set(sites))


def test_the_fresh_packages_are_held_out_as_a_whole() -> None:
    """A package is developed on or it is not, in both files, and neither half is empty."""
    fresh, reported = map(read_labels, ("fresh.csv", "fresh_reported.csv"))
    halves = {one.package: one.is_of_held_out_package for one in fresh}
    assert sorted(halves.values()).count(True) == 22
    assert len(halves) == 38
    assert all(halves[one.package] is one.is_of_held_out_package for one in reported)
    assert (
        min(sum(b.is_bad for b in fresh if halves[b.package] is half) for half in (True, False))
        >= 19
    )


@pytest.mark.parametrize(
    ("found", "matches"),
    [
        (finding("LS002", 101, "Api.client", "Api._client"), True),
        (finding("LS002", 500, "Api.client", "Api._client"), True),
        (finding("LS003", 110, "other", "_client[...]"), False),
        (finding("LS003", 110, "Other.client", "_client[...]"), True),
        (finding("LS004", 110, "other", "_client"), True),
        (finding("LS004", 150, "other", "_client"), False),
        (finding("LS002", 101, "Api.client", "Api._pool"), False),
        (finding("LS010", 101, "Api.client", "Api._done"), True),
        (finding("LS010", 101, "Api.other", "Api._done"), False),
        (finding("LS022", 300, "Api.__init__", "Api._done"), True),
        (finding("LS022", 101, "Bus.__init__", "Bus._done"), False),
    ],
)
def test_a_finding_is_matched_by_slot_and_place(found: Finding, *, matches: bool) -> None:
    """Line numbers alone are not enough, and not always the same."""
    assert (match(LABEL, [found]) is found) == matches


def test_the_surest_finding_counts() -> None:
    """A site may be reported twice."""
    low = finding("LS013", 101, "Api.client", "Api._client", Level.MEDIUM)
    high = finding("LS002", 101, "Api.client", "Api._client")
    assert match(LABEL, [low, high]) is high


def test_a_score_counts_what_is_right_and_what_is_found() -> None:
    """Five sites, one of each kind of outcome."""
    total = score(
        [
            (LABEL, Level.HIGH),
            (replace(LABEL, verdict="broken-dcl"), Level.MEDIUM),
            (LABEL, None),
            (replace(LABEL, verdict="racy-benign"), Level.HIGH),
            (replace(LABEL, verdict="safe"), Level.HIGH),
        ]
    )
    assert (total.bad, total.found, total.found_high) == (3, 2, 1)
    assert (total.reported_high, total.right_high, total.benign_high) == (3, 1, 1)
    assert total.lines()[0].endswith("1/3   = 0.33  [0.06, 0.79]")


def test_the_interval_is_that_of_wilson() -> None:
    """Two values worked out by hand to four places, and no data at all."""
    assert wilson(1, 10) == pytest.approx((0.0179, 0.4042), abs=1e-4)
    assert wilson(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson(0, 0) == (0.0, 1.0)
