"""The judged sites and the arithmetic over them; the packages themselves are not needed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plugin_utils.checker import Finding, Level
from tests.checker.labels.scoring import Label, match, read_labels, score, site_of, wilson

Site = tuple[str, str, int, str]

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


def test_each_set_has_packages_of_its_own() -> None:
    """What the checker was developed on is not what it is measured on, and no site counts twice."""
    names = ("labels", "fresh", "second", "third", "wide", "fourth", "fifth", "unseen")
    sets = [read_labels(f"{name}.csv") for name in names]
    packages = [package for labels in sets for package in {label.package for label in labels}]
    assert len(packages) == len(set(packages))
    bad = [sum(label.is_bad for label in labels) for labels in sets[1:]]
    assert bad == [42, 29, 20, 187, 56, 139, 77]
    later = [label for labels in sets[1:] for label in labels]
    later += read_labels("fresh_reported.csv") + read_labels("fifth_reported.csv")
    assert len({(site_of(label), label.function) for label in later}) == len(later)


def test_what_is_drawn_from_reports_is_of_the_fresh_packages() -> None:
    """The same releases: they are fetched once."""
    fresh, reported = map(read_labels, ("fresh.csv", "fresh_reported.csv"))
    releases = {(label.package, label.version) for label in fresh}
    assert {(label.package, label.version) for label in reported} <= releases


def test_what_is_drawn_from_later_reports_leaves_the_unseen_packages_alone() -> None:
    """Whoever reads what is reported there has used them up."""
    unseen, reported = map(read_labels, ("unseen.csv", "fifth_reported.csv"))
    assert {label.package for label in unseen}.isdisjoint(label.package for label in reported)


def test_a_second_reader_judged_every_bad_site() -> None:
    """What the first one called bad, and many more; of what either calls bad, most agree."""
    first, second = verdicts("third.csv"), verdicts("third_again.csv")
    assert {site for site, is_bad in first.items() if is_bad} <= second.keys() <= first.keys()
    assert agreement(first, second) == (20, 22, 16)


def test_two_readers_with_a_convention_agree_better() -> None:
    """The second one judged 58 packages of the wide set, 78 of the fifth, and all of the others."""
    first, second = verdicts("wide.csv"), verdicts("wide_again.csv")
    assert len({package for package, *_ in second}) == 58
    assert agreement(first, second) == (42, 42, 36)
    counts = {
        name: agreement(verdicts(f"{name}.csv"), verdicts(f"{name}_again.csv"))
        for name in ("fourth", "fifth", "unseen")
    }
    assert counts == {"fourth": (56, 53, 50), "fifth": (34, 35, 32), "unseen": (77, 74, 73)}


def test_readers_of_the_held_out_half_agree_with_each_other_more_than_with_its_author() -> None:
    """Each of three calls 19 sites bad that are 19 by the author, and 15 of them are the same."""
    author = {site_of(one): one.is_bad for one in process_wide("labels.csv") if one.is_held_out}
    alone, taught, taught_too = (
        {site: is_bad for site, is_bad in verdicts(name).items() if site in author}
        for name in ("labels_again.csv", "labels_taught.csv", "labels_taught_again.csv")
    )
    assert author.keys() == alone.keys() == taught.keys() == taught_too.keys()
    for reader in (alone, taught, taught_too):
        assert agreement(author, reader) == (19, 19, 15)
    assert agreement(taught, taught_too) == (19, 19, 18)
    assert verdicts("labels.csv").keys() == verdicts("labels_again.csv").keys()
    assert agreement(verdicts("labels.csv"), verdicts("labels_again.csv")) == (40, 40, 31)


def process_wide(name: str) -> list[Label]:
    """Return the judged sites that the process shares."""
    return [one for one in read_labels(name) if one.scope == "process"]


def verdicts(name: str) -> dict[Site, bool]:
    """Return the sites that the process shares, and whether each is bad."""
    return {site_of(one): one.is_bad for one in process_wide(name)}


def agreement(first: dict[Site, bool], second: dict[Site, bool]) -> tuple[int, int, int]:
    """Return how many sites the first reader calls bad, the second one, and both."""
    both = [(first[site], second[site]) for site in first.keys() & second.keys()]
    return sum(a for a, _ in both), sum(b for _, b in both), sum(a and b for a, b in both)


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
