"""`python -m plugin_utils.checker PATH...` is `plugin-utils check PATH...`."""

import os
import sys

import plugin_utils


def leave_folder() -> None:
    """Import nothing more from the current folder, which `-m` put first on the path.

    It is the folder that is checked, mostly, and a `json.py` of its own would take the place of
    Python's. Only a checkout of this project is left in place, for its workers need it.
    """
    home = os.path.dirname(os.path.dirname(os.path.abspath(plugin_utils.__file__)))  # noqa: PTH100, PTH120
    if sys.path[0] in {"", os.getcwd()} and home != os.getcwd():  # noqa: PTH109 - pathlib is heavy
        del sys.path[0]


if __name__ == "__main__":
    leave_folder()
    from plugin_utils.cli import main

    sys.exit(main(["check", *sys.argv[1:]]))
