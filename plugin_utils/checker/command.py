"""The commands `plugin-utils check` and `plugin-utils rule`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from plugin_utils.checker.config import Config, ConfigError, check_codes, parse_level
from plugin_utils.checker.output import FORMATS
from plugin_utils.checker.pages import page
from plugin_utils.checker.rewrite import rewrite_files
from plugin_utils.checker.rules import PAGES
from plugin_utils.checker.run import MANY, Report, check_files, python_files
from plugin_utils.checker.settings import Settings

__all__ = ("check", "rule")

_CLEAN, _FOUND, _USAGE = 0, 1, 2


def check(arguments: Sequence[str]) -> int:
    """Check the named files and folders; return 0 for clean, 1 for findings, 2 for trouble."""
    options = _parser().parse_args(arguments)
    report = Report()
    try:
        settings = Settings(_overriding(options), isolated=options.isolated)
        files = python_files(options.paths, settings, report)
    except ConfigError as error:
        print(f"plugin-utils check: {error}", file=sys.stderr)
        return _USAGE
    check_files(files, settings, report, _progress(len(files)))
    if options.diff or options.fix:
        rewrite_files(report, settings, unsafe=options.unsafe_fixes, write=not options.diff)
    if not options.diff and (output := FORMATS[options.output_format](report)):
        print(output)
    for message in report.unreadable:
        print(f"plugin-utils check: cannot read {message}", file=sys.stderr)
    for message in report.unwritable:
        print(f"plugin-utils check: cannot write {message}", file=sys.stderr)
    if report.unreadable or report.unwritable:
        return _USAGE
    return _FOUND if report.findings and not options.exit_zero else _CLEAN


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="plugin-utils check",
        description="Find shared objects that two threads can build twice or see half-built.",
        epilog="exit code: 0 nothing found, 1 something found,"
        " 2 wrong usage, or a path that cannot be read or written",
    )
    add = parser.add_argument
    add("paths", nargs="+", metavar="PATH", help="a Python file, or a folder of them")
    add("--output-format", choices=tuple(FORMATS), default="text", help="default: text")
    add("--select", metavar="CODES", help="show only these codes, or beginnings of codes")
    add("--ignore", metavar="CODES", help="do not show these codes")
    add("--level", metavar="LEVEL", help="the lowest level shown: high, medium (default) or info")
    add("--exit-zero", action="store_true", help="exit with 0 even if something is found")
    add("--isolated", action="store_true", help="read no pyproject.toml")
    add("--fix", action="store_true", help="rewrite what can safely be rewritten")
    add("--unsafe-fixes", action="store_true", help="with --fix or --diff: use @lazy_singleton")
    add("--diff", action="store_true", help="show what --fix would change, and change nothing")
    return parser


def _overriding(options: argparse.Namespace) -> Callable[[Config], Config]:
    """Return what puts the options that are given in the place of a folder's settings.

    Raises:
        ConfigError: An option cannot be meant.
    """
    given: dict[str, Any] = {}
    for name in ("select", "ignore"):
        codes: str | None = getattr(options, name)
        if codes is not None:
            given[name] = check_codes(f"--{name}", _split(codes))
    if options.level is not None:
        given["level"] = parse_level(options.level)
    return lambda config: replace(config, **given)


def _split(codes: str) -> list[str]:
    return [code.strip().upper() for code in codes.split(",")]


def _progress(total: int) -> Callable[[int], object]:
    """Return what shows progress: a bar on a terminal if there is much to do, else nothing."""
    if total <= MANY or not sys.stderr.isatty():
        return lambda _done: None

    def show(done: int) -> None:
        filled = 40 * done // total
        end = "\n" if done == total else ""
        bar = "#" * filled + "." * (40 - filled)
        print(f"\r[{bar}] {done}/{total} files", end=end, file=sys.stderr, flush=True)

    return show


def rule(arguments: Sequence[str]) -> int:
    """Explain a rule in the terminal."""
    parser = argparse.ArgumentParser(prog="plugin-utils rule", description="Explain a rule.")
    parser.add_argument("code", metavar="CODE", type=str.upper, help="for example LS001")
    code: str = parser.parse_args(arguments).code
    if code not in PAGES:
        known = ", ".join(PAGES)
        print(f"plugin-utils rule: there is no rule {code!r}: there are {known}", file=sys.stderr)
        return _USAGE
    print(page(PAGES[code]), end="")
    return _CLEAN
