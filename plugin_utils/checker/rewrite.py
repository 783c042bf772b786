"""What `--fix` and `--diff` do with a report: rewrite the files, or show how they would change."""

from __future__ import annotations

import difflib
import sys
from collections import defaultdict
from pathlib import Path

from plugin_utils.checker.check import check_source
from plugin_utils.checker.config import Config
from plugin_utils.checker.fix import fix_source
from plugin_utils.checker.model import Finding
from plugin_utils.checker.run import Report
from plugin_utils.checker.source import lines_of, read

__all__ = ("rewrite_files",)


def rewrite_files(report: Report, config: Config, *, unsafe: bool, write: bool) -> None:
    """Fix what is fixable in `report`: in the files, or as a diff on standard output.

    The findings of a file that was written are replaced by what is left of them.
    """
    by_path: dict[str, list[Finding]] = defaultdict(list)
    for finding in report.findings:
        by_path[finding.path].append(finding)
    for path, findings in by_path.items():
        if any(finding.fixable for finding in findings):
            by_path[path] = _rewrite(path, findings, config, unsafe=unsafe, write=write)
    report.findings = [finding for found in by_path.values() for finding in found]


def _rewrite(
    path: str, findings: list[Finding], config: Config, *, unsafe: bool, write: bool
) -> list[Finding]:
    source = read(path)
    fixed = fix_source(source.text, findings, unsafe=unsafe)
    if not write:
        _show(path, source.text, fixed)
        return findings
    Path(path).write_bytes(fixed.encode(source.encoding))
    left = [finding for finding in check_source(fixed, path) if config.shows(finding)]
    print(f"{path}: fixed {len(findings) - len(left)}", file=sys.stderr)
    return left


def _show(path: str, before: str, after: str) -> None:
    for line in difflib.unified_diff(lines_of(before), lines_of(after), path, path):
        sys.stdout.write(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
