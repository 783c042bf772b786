"""What a rule is: a code, a check, and the page that explains it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.definitions import Function
from plugin_utils.checker.evidence import limit
from plugin_utils.checker.makers import Makes, starts
from plugin_utils.checker.model import Level
from plugin_utils.checker.sites import Site
from plugin_utils.checker.users import is_used_elsewhere

__all__ = ("Hit", "Page", "Rule", "built_twice", "hit", "level_of")


@dataclass(frozen=True, slots=True)
class Hit:
    """What a rule found: a finding that does not know its file yet."""

    node: ast.stmt | ast.expr
    function: Function
    name: str
    level: Level
    message: str
    site: Site | None = None
    """The lazy build, where the fix for it is known."""


@dataclass(frozen=True, slots=True)
class Page:
    """What there is to read about a code, as its module declares it."""

    code: str
    title: str
    levels: str
    """At which level it is reported, in words."""
    text: str
    """The explanation, in Markdown: the docstring of the module."""


@dataclass(frozen=True, slots=True)
class Rule(Page):
    """One rule: its page, and what finds it."""

    check: Callable[[Analysis], Iterator[Hit]]


def hit(site: Site, level: Level, message: str, analysis: Analysis) -> Hit:
    """Return a finding at the store of `site`, at `level` unless something speaks against it."""
    level = level and min(level, limit(site, analysis))
    return Hit(site.store.node, site.function, str(site.slot), level, message)


def built_twice(what: str) -> str:
    """Return the message that `what`, a slot, has no lock around test and store."""
    return f"{what} is tested, built and stored without a lock: two threads can build it twice"


def level_of(site: Site, analysis: Analysis) -> Level:
    """Return how much it matters that `site` can run twice."""
    if site.makes is not Makes.RESOURCE:
        return Level.INFO
    if site.is_handed_out or starts(site.store.value) or is_used_elsewhere(site, analysis):
        return Level.HIGH
    return Level.MEDIUM
