"""Findings as SARIF 2.1.0, the format that code-scanning services read."""

from __future__ import annotations

import json
from pathlib import PurePath
from urllib.parse import quote

from plugin_utils.checker.model import Finding, Level, url_of
from plugin_utils.checker.rules import PAGES
from plugin_utils.checker.run import Report

__all__ = ("render",)

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Level.HIGH: "error", Level.MEDIUM: "warning", Level.INFO: "note"}


def render(report: Report) -> str:
    """Return the findings as one SARIF run."""
    driver = {
        "name": "plugin-utils",
        "rules": [
            {"id": code, "shortDescription": {"text": page.title}, "helpUri": url_of(code)}
            for code, page in PAGES.items()
        ],
    }
    results = [_result(finding) for finding in report.findings]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _result(finding: Finding) -> dict[str, object]:
    return {
        "ruleId": finding.code,
        "level": _LEVELS[finding.level],
        "message": {"text": finding.message},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": quote(PurePath(finding.path).as_posix())},
                    "region": {
                        "startLine": finding.line,
                        "startColumn": finding.column,
                        "endLine": finding.end_line,
                    },
                }
            }
        ],
    }
