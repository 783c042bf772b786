"""Findings for programs: a list of objects."""

from __future__ import annotations

import json

from plugin_utils.checker.run import Report

__all__ = ("render",)


def render(report: Report) -> str:
    """Return the findings as a JSON list, one object each."""
    return json.dumps([finding.as_dict() for finding in report.findings], indent=2)
