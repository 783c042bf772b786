"""`python -m plugin_utils.checker PATH...` is `plugin-utils check PATH...`."""

import sys

from plugin_utils.cli import main

if __name__ == "__main__":
    sys.exit(main(["check", *sys.argv[1:]]))
