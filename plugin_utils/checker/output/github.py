"""Findings as annotations of a GitHub pull request.

The form is that of GitHub's workflow commands: `::error file=...,line=...::message`.
"""

from __future__ import annotations

from pathlib import PurePath

from plugin_utils.checker.model import Finding, Level
from plugin_utils.checker.run import Report

__all__ = ("render",)

_COMMANDS = {Level.HIGH: "error", Level.MEDIUM: "warning", Level.INFO: "notice"}


def render(report: Report) -> str:
    """Return one workflow command a finding."""
    return "\n".join(map(_command, report.findings))


def _command(finding: Finding) -> str:
    properties = {
        "file": PurePath(finding.path).as_posix(),
        "line": finding.line,
        "col": finding.column,
        "endLine": finding.end_line,
        "title": finding.code,
    }
    listed = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{_COMMANDS[finding.level]} {listed}::{_data(finding.message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
