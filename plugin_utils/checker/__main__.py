"""`python -m plugin_utils.checker PATH...` is `plugin-utils check PATH...`."""

import sys

from plugin_utils.checker.command import check

if __name__ == "__main__":
    sys.exit(check(sys.argv[1:]))
