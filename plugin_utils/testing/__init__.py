"""What the tests of a plugin need to prove that its singletons are built once.

The library itself never imports this package. With pytest, the fixture `reset_singletons` is
there as well, from `plugin_utils.testing.pytest_plugin`.
"""

from plugin_utils.testing._counting import CountingFactory
from plugin_utils.testing._reset import reset_all
from plugin_utils.testing._together import run_together
from plugin_utils.testing.interleaving import ExplorerError, explore, fresh, step

__all__ = (
    "CountingFactory",
    "ExplorerError",
    "explore",
    "fresh",
    "reset_all",
    "run_together",
    "step",
)
