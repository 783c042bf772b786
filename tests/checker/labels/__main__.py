"""`python -m tests.checker.labels FOLDER [SET...]`: fetch packages into FOLDER, measure, gate.

The gate is no regression: on the half that the checker was not developed on, it may not report
more that is safe, nor find less that is bad, than it did when the figures below were written.
Nor may it lose one of the known races.

Later sets were each drawn from packages that no set had before, and judged before the checker saw
them; `CONVENTION.md` says how. Whoever looks at the sites of a set to mend the checker has used it
up: that happened to all but the unseen set. None of them gates anything. `fresh_reported.csv` and
`fifth_reported.csv` hold sites drawn from what was reported, and judged then: precision only.

Five of these sets have verdicts of a second reader, who did not know the first one's. Both judged
`third_again.csv` without a written convention; for the others they had it. In the fourth, the fifth
and most of the unseen set a site is arguable, too, if the two disagree on whether it is bad.

`labels.csv` was judged by somebody else, so readers were measured on it as the checker is: one who
knew the convention alone (`labels_again.csv`), and two who were shown the development half with its
verdicts, and judged the held-out one (`labels_taught.csv`, `labels_taught_again.csv`).

The wide, the fourth and the fifth set are 742 packages, which take many gigabytes: they are
measured only if asked for.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

from plugin_utils.checker import Finding, Level
from plugin_utils.checker.run import check_file
from tests.checker.labels.scoring import Label, Score, match, read_labels, score, site_of

HERMES = "hermes-agent-0.19.0"
KNOWN = (
    ("tools/openrouter_client.py", "_client"),
    ("hermes_cli/plugins.py", "_plugin_manager"),
    ("providers/__init__.py", "_discovered"),
    ("agent/transports/__init__.py", "_discovered"),
    ("plugins/platforms/google_chat/adapter.py", "_google_modules_loaded"),
    ("tools/url_safety.py", "_allow_private_resolved"),
    ("tools/browser_tool.py", "_browser_engine_resolved"),
    ("tools/browser_tool.py", "_headed_mode_resolved"),
    ("tools/browser_tool.py", "_allow_private_urls_resolved"),
    ("plugins/web/exa/provider.py", "_wt._exa_client"),
    ("plugins/web/firecrawl/provider.py", "_wt._firecrawl_client"),
    ("plugins/web/parallel/provider.py", "_wt._parallel_client"),
    ("tools/transcription_tools.py", "_local_model"),
    ("plugins/memory/hindsight/__init__.py", "HindsightMemoryProvider._client"),
)
"""Races of Hermes Agent that were reported in public, and are in this release."""

READERS = (
    ("a reader", "labels_again.csv"),
    ("a reader shown the other half", "labels_taught.csv"),
    ("another reader shown the other half", "labels_taught_again.csv"),
)

# Two more are singletons whose module makes the one instance while it is imported: they are at
# level medium, and still count as found.
RIGHT_HIGH_AT_LEAST = 15
WRONG_HIGH_AT_MOST = 1
FOUND_AT_LEAST = 17


def fetch(labels: list[Label], folder: Path) -> None:
    """Install each package, without its dependencies, into a folder of its own."""
    for package, version in sorted({(label.package, label.version) for label in labels}):
        target = folder / f"{package}-{version}"
        if not target.exists():
            print(f"fetching {package} {version}")
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
            options = ["--disable-pip-version-check", "--ignore-requires-python", "--target"]
            subprocess.run([*pip, *options, str(target), f"{package}=={version}"], check=True)


@cache
def findings_in(path: Path) -> list[Finding]:
    """Return everything found in the file at `path`."""
    found = check_file(str(path))
    if isinstance(found, OSError):
        raise found
    return found


def measure(labels: list[Label], folder: Path) -> list[tuple[Label, Level | None]]:
    """Return the sites of `labels`, each with the level it is reported at."""
    fetch(labels, folder)
    return [
        (label, found.level if found else None)
        for label in labels
        for found in [match(label, findings_in(_path(label, folder)))]
    ]


def judged_again(name: str, again: str) -> list[tuple[Label, Level | None]]:
    """Return the sites of `name` that have a second verdict, at level high where that is bad."""
    second = {site_of(label): label.is_bad for label in read_labels(again)}
    return [
        (label, Level.HIGH if second[site_of(label)] else None)
        for label in _process_wide(name)
        if site_of(label) in second
    ]


def main() -> int:
    """Print the figures of all sets, and return 1 if the held-out half got worse."""
    folder = Path(sys.argv[1])
    judged = measure(_process_wide("labels.csv"), folder)
    held_out = [(label, level) for label, level in judged if label.is_held_out]
    _print("development half", [(label, level) for label, level in judged if not label.is_held_out])
    _print("held-out half", held_out)
    for who, again in READERS:
        read = [one for one in judged_again("labels.csv", again) if one[0].is_held_out]
        _print(f"held-out half, {who}", read)
    _print("fresh set, developed on since", measure(_process_wide("fresh.csv"), folder))
    reported = measure(read_labels("fresh_reported.csv"), folder)
    _print("fresh packages, drawn from what is reported", reported, precision_only=True)
    if "fifth" in sys.argv[2:]:
        reported = measure(read_labels("fifth_reported.csv"), folder)
        _print("later packages, drawn from what is reported", reported, precision_only=True)
    for name in ("second", "third", *sys.argv[2:]):
        judged = measure(_process_wide(f"{name}.csv"), folder)
        _print(f"{name} set, developed on since", judged)
    _print("third set, a second reader", judged_again("third.csv", "third_again.csv"))
    for name in ("wide", "fourth", "fifth"):
        _print(f"{name} set, a second reader", judged_again(f"{name}.csv", f"{name}_again.csv"))
    _print("unseen set", measure(_process_wide("unseen.csv"), folder))
    _print("unseen set, a second reader", judged_again("unseen.csv", "unseen_again.csv"))
    missed = [f"{file}: {slot}" for file, slot in KNOWN if not _is_found(folder, file, slot)]
    print(f"known races found: {len(KNOWN) - len(missed)} of {len(KNOWN)}", *missed, sep="\n  ")
    return 0 if _is_as_good(score(held_out)) and not missed else 1


def _print(
    name: str, judged: list[tuple[Label, Level | None]], *, precision_only: bool = False
) -> None:
    """Print the figures over `judged`; sites drawn from reports tell nothing of what is missed."""
    sure = [(label, level) for label, level in judged if not label.is_arguable]
    for which, sites in (("all sites", judged), ("without arguable sites", sure)):
        lines = score(sites).lines()
        print(f"{name}, {which}:", *(lines[:2] if precision_only else lines), sep="\n")


def _process_wide(name: str) -> list[Label]:
    return [label for label in read_labels(name) if label.scope == "process"]


def _is_found(folder: Path, file: str, slot: str) -> bool:
    found = findings_in(folder / HERMES / file)
    return any(f.name == slot and f.level >= Level.MEDIUM for f in found)


def _path(label: Label, folder: Path) -> Path:
    return folder / f"{label.package}-{label.version}" / label.file


def _is_as_good(total: Score) -> bool:
    wrong = total.reported_high - total.right_high
    return (
        total.right_high >= RIGHT_HIGH_AT_LEAST
        and wrong <= WRONG_HIGH_AT_MOST
        and total.found >= FOUND_AT_LEAST
    )


if __name__ == "__main__":
    sys.exit(main())
