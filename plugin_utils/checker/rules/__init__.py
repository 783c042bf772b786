"""The rules, one module each."""

from plugin_utils.checker.rules import (
    ls001,
    ls002,
    ls003,
    ls004,
    ls010,
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
from plugin_utils.checker.rules.rule import Hit, Rule

__all__ = ("RULES", "Hit", "Rule")

RULES: dict[str, Rule] = {
    module.RULE.code: module.RULE
    for module in (
        ls001,
        ls002,
        ls003,
        ls004,
        ls010,
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
