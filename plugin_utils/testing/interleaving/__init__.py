"""Runs code under every schedule of its threads that matters."""

from plugin_utils.testing.interleaving._errors import ExplorerError
from plugin_utils.testing.interleaving._explore import Model, Result, explore
from plugin_utils.testing.interleaving._fresh import fresh
from plugin_utils.testing.interleaving._locks import step

__all__ = ("ExplorerError", "Model", "Result", "explore", "fresh", "step")
