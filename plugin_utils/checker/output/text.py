"""Findings for a person in a terminal: one line each, and a summary."""

from __future__ import annotations

from plugin_utils.checker.run import Report

__all__ = ("render",)


def render(report: Report) -> str:
    """Return the findings, one a line, with what can be done about them."""
    lines = [
        f"{f.path}:{f.line}:{f.column}: {f.code} [{f.level.label}] {f.message}"
        for f in report.findings
    ]
    return "\n".join([*lines, *_summary(report)])


def _summary(report: Report) -> list[str]:
    number, files = len(report.findings), _counted(report.files, "file")
    if not number:
        return [f"No racy lazy singletons in {files}."]
    summary = [f"Found {_counted(number, 'finding')} in {files}."]
    first = min(finding.code for finding in report.findings)
    summary.append(f"Run `plugin-utils rule {first}` to read why it matters.")
    fixable = sum(finding.fixable for finding in report.findings)
    if fixable:
        summary.append(f"{fixable} can be fixed with `--fix`; `--diff` shows how.")
    return summary


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
