"""The command line: `python -m plugin_utils.docs_testing check mkdocs.yml site/`."""

import argparse
import sys
from pathlib import Path

__all__ = ("main",)

DESCRIPTION = """\
Test the code blocks of a MkDocs site.

The blocks are run by pytest, and running them EXECUTES YOUR PAGES on this machine with your rights:

    pytest -p plugin_utils.docs_testing.plugin --codeblocks docs README.md

The command below runs no block. It proves that the built site shows none that pytest does not run.
"""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit status: 0, or 1 when there are problems."""
    parser = argparse.ArgumentParser(
        prog="python -m plugin_utils.docs_testing",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("check", help="match the built site with the tested blocks")
    command.add_argument("config", type=Path, help="the site's mkdocs.yml")
    command.add_argument("site", type=Path, help="the folder that `mkdocs build` wrote")
    given = parser.parse_args(arguments)
    try:
        from plugin_utils.docs_testing.check import check
    except ModuleNotFoundError as error:
        parser.error(f"{error}; this command needs the extra 'docs' of plugin-utils")
    for file in (given.config, given.site):
        if not file.exists():
            parser.error(f"there is no {str(file)!r}")
    result = check(given.config, given.site)
    for problem in result.problems:
        print(problem)
    print(f"blocks of the built site: {result}")
    return 1 if result.problems else 0


if __name__ == "__main__":
    sys.exit(main())
