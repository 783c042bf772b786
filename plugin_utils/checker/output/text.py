"""Findings for a person in a terminal: one line each, and a summary."""

from __future__ import annotations

from plugin_utils.checker.model import Finding
from plugin_utils.checker.run import Report

__all__ = ("counted", "line_of", "render")


def render(report: Report) -> str:
    """Return the findings, one a line, with what can be done about them."""
    return "\n".join([*map(line_of, report.findings), *_summary(report)])


def line_of(f: Finding) -> str:
    """Return a finding as one line, of which editors understand the beginning."""
    return f"{f.path}:{f.line}:{f.column}: {f.code} [{f.level.label}] {f.message}"


def _summary(report: Report) -> list[str]:
    number, files = len(report.findings), counted(report.files, "file")
    if not number:
        return [f"No racy lazy singletons in {files}."]
    summary = [f"Found {counted(number, 'finding')} in {files}."]
    first = min(finding.code for finding in report.findings)
    summary.append(f"Run `plugin-utils rule {first}` to read why it matters.")
    fixable = sum(finding.fixable for finding in report.findings)
    if fixable:
        summary.append(f"{fixable} can be fixed with `--fix`; `--diff` shows how.")
    return summary


def counted(number: int, noun: str) -> str:
    """Return `1 file` or `2 files`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
