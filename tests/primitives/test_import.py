"""What importing the library imports."""

import sys

import pytest

from tests.support import child


def _imported() -> None:
    import importlib
    import sys

    before = set(sys.modules)
    importlib.import_module("plugin_utils")
    print(*sorted(set(sys.modules) - before))


@pytest.mark.promise(29)
def test_import_brings_little_of_the_standard_library() -> None:
    """No third-party module is imported, and none of the large ones of the standard library."""
    # -S: nothing that this environment's site-packages import at start-up hides an import.
    imported = child.run(_imported, options=["-S"]).output.split()
    roots = {name.partition(".")[0] for name in imported}
    assert "plugin_utils" in roots
    assert roots - {"plugin_utils"} <= sys.stdlib_module_names
    assert not roots & {"typing", "asyncio", "unittest", "logging", "inspect", "threading"}


@pytest.mark.promise(29)
def test_import_leaves_the_testing_helpers_out() -> None:
    """The library does not import what only tests need."""
    assert "plugin_utils.testing" not in child.run(_imported, options=["-S"]).output.split()
