"""A shared client for Honcho, built from the settings that Hermes plugins use.

Importing this package imports no third-party module. The SDK comes with the first build:
from a checkout of this project, `pip install '.[honcho]'`.
"""

from plugin_utils.honcho.client import (
    get_honcho_client,
    get_honcho_client_for,
    reset_honcho_client,
    reset_honcho_client_for,
)
from plugin_utils.honcho.config import HonchoClientConfig

__all__ = (
    "HonchoClientConfig",
    "get_honcho_client",
    "get_honcho_client_for",
    "reset_honcho_client",
    "reset_honcho_client_for",
)
