"""Findings as SARIF 2.1.0, the format that code-scanning services read."""

from __future__ import annotations

import json
from pathlib import PurePath
from urllib.parse import quote

from plugin_utils.checker.model import PARSE_ERROR, Finding, Level, url_of
from plugin_utils.checker.rules import RULES
from plugin_utils.checker.run import Report

__all__ = ("render",)

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Level.HIGH: "error", Level.MEDIUM: "warning", Level.INFO: "note"}


def render(report: Report) -> str:
    """Return the findings as one SARIF run."""
    titles = {PARSE_ERROR: "File cannot be parsed"} | {c: rule.title for c, rule in RULES.items()}
    driver = {
        "name": "plugin-utils",
        "rules": [
            {"id": code, "shortDescription": {"text": title}, "helpUri": url_of(code)}
            for code, title in titles.items()
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
