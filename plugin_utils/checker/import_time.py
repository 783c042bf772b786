"""Who comes first because an import does: then no second thread is there yet."""

from __future__ import annotations

from plugin_utils.checker.analysis import Analysis
from plugin_utils.checker.events import Flow
from plugin_utils.checker.package import is_called_by_others_at_import
from plugin_utils.checker.sites import Site
from plugin_utils.checker.slots import Slot

__all__ = ("is_filled_at_import", "is_made_at_import")

# These run while an instance is made.
_MAKERS = frozenset({"__init__", "__new__"})


def is_filled_at_import(slot: Slot, flow: Flow, analysis: Analysis) -> bool:
    """Tell whether the module itself calls first, while the lock of its import is held."""
    return flow.function in analysis.run_at_import and _is_filled_once(slot, flow, analysis)


def is_made_at_import(site: Site, analysis: Analysis) -> bool:
    """Tell whether a module of the package makes the one instance while it is imported.

    That is no proof: another thread may come before that module is imported.
    """
    function = site.function
    owner = function.owner if function.name in _MAKERS else None
    if function.owner is not owner or not _is_filled_once(site.slot, site.flow, analysis):
        return False
    name = owner.name if owner else function.name
    return name in analysis.called_at_import or is_called_by_others_at_import(name, analysis.module)


def _is_filled_once(slot: Slot, flow: Flow, analysis: Analysis) -> bool:
    """Tell whether whoever fills the slot first fills it for good: it has no keys and no reset."""
    return not slot.is_item and analysis.reset_of(slot, flow) is None
