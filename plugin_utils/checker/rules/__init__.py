"""The rules, one module each."""

from plugin_utils.checker.rules import (
    ls000,
    ls001,
    ls002,
    ls003,
    ls004,
    ls010,
    ls011,
    ls012,
    ls013,
    ls020,
    ls021,
    ls022,
    ls023,
    ls030,
    ls040,
    ls060,
    ls090,
)
from plugin_utils.checker.rules.rule import Hit, Page, Rule

__all__ = ("PAGES", "RULES", "Hit", "Page", "Rule")

RULES: dict[str, Rule] = {
    module.RULE.code: module.RULE
    for module in (
        ls001,
        ls002,
        ls003,
        ls004,
        ls010,
        ls011,
        ls012,
        ls013,
        ls020,
        ls021,
        ls022,
        ls023,
        ls030,
        ls040,
        ls060,
        ls090,
    )
}
"""Every rule by its code, in the order of the codes."""

PAGES: dict[str, Page] = {ls000.PAGE.code: ls000.PAGE, **RULES}
"""Everything that a finding can point to: the rules, and the file that does not parse."""
