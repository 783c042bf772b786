"""The pytest plugin: `pytest --codeblocks docs README.md` runs every block of the pages.

**It executes the pages**, on this machine and with your rights; see the package's description.

Switch it on with `-p plugin_utils.docs_testing.plugin`. Without `--codeblocks` it does nothing and
needs nothing but pytest. The options, in pytest's configuration:

- `docs_config`: the site's `mkdocs.yml`. By default it is searched from the page's folder upward,
  then in pytest's root folder.
- `docs_timeout`: seconds that a block may take, 20 by default.
- `docs_max_not_run`: how many blocks may be left out by a mark, 2 by default. More fail the run.
- `docs_unset_env`: patterns of environment variables that no block sees, besides `HONCHO_*`,
  `HERMES_*` and `FAL_KEY`.
- `docs_loaders`: lines `TITLE = package.module:function`. A block with that title (`*` and `?` are
  wildcards) that is neither Python nor shell is written to a file of that name, and the function is
  called with its path, in the block's own process: whatever it raises fails the block. It may make
  a test of a language, or of a text, that this plugin does not know.
"""

import pytest

__all__ = ("pytest_addoption", "pytest_configure")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    parser.addini("docs_config", "the mkdocs.yml whose pages --codeblocks executes")
    parser.addini("docs_timeout", "seconds that a block of a page may take", "float", 20.0)
    parser.addini("docs_max_not_run", "how many blocks a mark may leave out", "int", 2)
    parser.addini("docs_unset_env", "patterns of variables that no block sees", "args")
    parser.addini("docs_loaders", "TITLE = module:function, to load a titled block", "linelist")


def pytest_configure(config: pytest.Config) -> None:
    """Take over the pages when `--codeblocks` is given."""
    for line in (
        "not_run(reason): the block of a page is shown, but not run",
        "runs_as(command): the block of a page cannot run as shown; this runs instead",
        "goes_wrong(kind, raises, within): the block of a page goes wrong on purpose",
    ):
        config.addinivalue_line("markers", line)
    if config.getoption("codeblocks", default=False):
        # Only now are MkDocs and pytest-codeblocks needed.
        from plugin_utils.docs_testing._collect import Pages

        config.pluginmanager.register(Pages(config), "docs_testing_pages")
