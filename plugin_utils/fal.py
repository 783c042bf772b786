"""The `fal_client` module, imported on first use: `lazy_singleton` at work in a lazy import."""

from importlib import import_module
from types import ModuleType
from typing import cast

from plugin_utils import _hermes, lazy_singleton

__all__ = ("load_fal_client",)


@lazy_singleton
def load_fal_client() -> ModuleType:
    """Return the `fal_client` module, imported on the first call.

    Inside Hermes the host installs and imports it. If that fails, or outside Hermes, it is
    imported as usual.

    Concurrency: many threads may call first; one imports, and all get the module.

    Failure: nothing is cached, and the next call tries again. `load_fal_client.reset()` forgets
    the module, as a test that swaps it needs.

    Re-entrancy: the host's import runs inside the call. Should it come back here, it gets
    `RecursiveBuildError`.

    Raises:
        ImportError: The package `fal-client` is not installed. If it is installed and broken, its
            own error comes out unchanged.

    Example:
        ```python
        from plugin_utils.fal import load_fal_client

        assert load_fal_client() is load_fal_client()
        ```
    """
    _hermes.install("image.fal")
    told = _hermes.ask("tools.fal_common", "import_fal_client")
    if told is not None:
        return cast("ModuleType", told)
    try:
        return import_module("fal_client")
    except ModuleNotFoundError as error:
        if error.name != "fal_client":
            raise  # the package is there, and lacks something itself: installing it is no help
        msg = "image generation with fal needs the package fal-client; run: pip install fal-client"
        raise ImportError(msg, name="fal_client") from error
