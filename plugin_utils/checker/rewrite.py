"""What `--fix` and `--diff` do with a report: rewrite the files, or show how they would change."""

from __future__ import annotations

import difflib
import sys
from collections import defaultdict
from dataclasses import dataclass, field

from plugin_utils.checker.check import check_source
from plugin_utils.checker.config import Config
from plugin_utils.checker.fix import fix_source
from plugin_utils.checker.model import Finding
from plugin_utils.checker.output.text import counted, line_of
from plugin_utils.checker.run import Report
from plugin_utils.checker.settings import Settings
from plugin_utils.checker.source import lines_of, read
from plugin_utils.checker.writing import replace_content

__all__ = ("rewrite_files",)

# Each round but the last fixes something; a chain of accessors that is longer is no chain.
_ROUNDS = 20


def rewrite_files(report: Report, settings: Settings, *, unsafe: bool, write: bool) -> None:
    """Fix what is fixable in `report`: in the files, or as a diff on standard output.

    The findings of a file that was written are replaced by what is left of them. A file that
    cannot be written is noted in `report`, and stays as it is.
    """
    by_path: dict[str, list[Finding]] = defaultdict(list)
    for finding in report.findings:
        by_path[finding.path].append(finding)
    for path, findings in by_path.items():
        if any(finding.fixable for finding in findings):
            config = settings.of(path)
            try:
                by_path[path] = _rewrite(path, findings, config, unsafe=unsafe, write=write)
            except OSError as error:
                report.unwritable.append(f"{path}: {error.strerror}")
    report.findings = [finding for found in by_path.values() for finding in found]
    _tell_what_is_left(report, is_shown=write)


def _tell_what_is_left(report: Report, *, is_shown: bool) -> None:
    """Say what no fix is known for, unless the report says it, and why if only a lock is amiss."""
    left = [finding for finding in report.findings if not finding.fixable]
    for finding in left:
        if not is_shown:
            print(line_of(finding), file=sys.stderr)
        if finding.refusal:
            where = f"{finding.path}:{finding.line}:{finding.column}"
            print(f"{where}: not rewritten: {finding.refusal}", file=sys.stderr)
    if left and not is_shown:
        print(f"{counted(len(left), 'finding')} cannot be fixed with `--fix`.", file=sys.stderr)


def _rewrite(
    path: str, findings: list[Finding], config: Config, *, unsafe: bool, write: bool
) -> list[Finding]:
    source = read(path)
    fixed = _Fixed(source.text, findings)
    for _ in range(_ROUNDS):
        if not fixed.again(path, config, unsafe=unsafe):
            break
    if not write:
        _show(path, source.text, fixed.text)
        return findings
    if fixed.text != source.text:
        replace_content(path, fixed.text.encode(source.encoding))
    print(f"{path}: fixed {len(fixed.done)}", file=sys.stderr)
    return fixed.left


@dataclass(slots=True)
class _Fixed:
    """A text on its way to where no fix is left: one can bring the next to light."""

    text: str
    left: list[Finding]
    done: set[tuple[str, str]] = field(default_factory=set)
    """The function and the slot of what was fixed."""

    def again(self, path: str, config: Config, *, unsafe: bool) -> bool:
        """Fix what is left and can be fixed; return whether that changed anything."""
        text = fix_source(self.text, self.left, unsafe=unsafe)
        if text == self.text:
            return False
        before = self.left
        self.text = text
        self.left = [found for found in check_source(text, path) if config.shows(found)]
        self.done |= {_key(found) for found in before} - {_key(found) for found in self.left}
        return True


def _key(finding: Finding) -> tuple[str, str]:
    return finding.function, finding.name


def _show(path: str, before: str, after: str) -> None:
    for line in difflib.unified_diff(lines_of(before), lines_of(after), path, path):
        sys.stdout.write(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
