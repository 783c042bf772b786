"""The examples in docstrings that a page shows by `::: package.name`."""

from pathlib import Path
from textwrap import dedent

import pytest

from plugin_utils.docs_testing._docstrings import docstrings
from plugin_utils.docs_testing._pages import Site
from tests.docs_testing import sites

PACKAGE = {
    "shop/__init__.py": '''\
        """A shop."""
        from json import loads
        from . import deep
        from ._till import Till as Register
        from .deep.low import low
        from shop._till import pay
        CONSTANT = 1
        ''',
    "shop/_till.py": '''\
        from typing import overload

        class Till:
            """A till."""

            def __init__(self):
                """Open it."""

            def close(self):
                """

                Close it.
                """

            def _count(self):
                """Count it."""

            limit = 3

        @overload
        def pay(x: int): ...
        @overload
        def pay(x: str): ...
        def pay(x):
            """Pay.

            Example:
                ```python
                assert 1
                assert 0
                ```
            """
            def inner():
                """Not shown."""
        ''',
    "shop/deep/__init__.py": '"""Deep."""\nfrom .low import low as lowest\n',
    "shop/deep/low.py": '''\
        from .. import Register as Up

        def low():
            """Low."""

        async def _private():
            """Private."""
        ''',
    "space/nothing.txt": "",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site whose pages show a package."""
    config = "site_name: T\ntheme: {name: mkdocs}\nmarkdown_extensions: [pymdownx.superfences]\n"
    files = {name: dedent(text) for name, text in PACKAGE.items()}
    return sites.write(tmp_path_factory.mktemp("shop"), files, config=config)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("shop", ["A shop.:1"]),
        ("shop.Register", ["A till.:4", "Open it.:7", "Close it.:12"]),
        ("shop.Register.close", ["Close it.:12"]),
        ("shop._till.Till._count", ["Count it.:16"]),
        ("shop.deep", ["Deep.:1"]),
        ("shop.deep.lowest", ["Low.:4"]),
        ("shop.low", ["Low.:4"]),
        ("shop.deep.low", ["Low.:4"]),
        ("shop.deep.low.Up", ["A till.:4", "Open it.:7", "Close it.:12"]),
        ("shop.pay", ["Pay.:25"]),
        ("shop.CONSTANT", []),
        ("shop.loads", []),
        ("shop.Register.none", []),
        ("space.nothing", []),
        ("nothing", []),
    ],
)
def test_an_object_is_found_by_its_name(name: str, found: list[str], shop: Path) -> None:
    """It is found where it is defined, with its public members; what is no source is left alone."""
    shown = [
        f"{each.text.splitlines()[0]}:{each.line}"
        for each in docstrings(f"::: {name}", [str(shop)])
    ]
    assert shown == found


def test_a_line_of_a_page_is_no_directive() -> None:
    """Only a line that is a directive shows something."""
    assert not list(docstrings("Use ::: json to show it.", []))


def test_the_folders_are_those_of_mkdocstrings(shop: Path, tmp_path: Path) -> None:
    """A site may have its sources elsewhere."""
    config = f"""\
site_name: T
theme: {{name: mkdocs}}
plugins:
  - mkdocstrings:
      handlers:
        python:
          paths: [{shop}]
markdown_extensions: [pymdownx.superfences]
"""
    site = Site(
        sites.write(tmp_path, {"docs/a.md": "::: shop.pay\n"}, config=config) / "mkdocs.yml"
    )
    (shown,) = site.docstrings(site.read(tmp_path / "docs/a.md"))
    assert [fence.source for fence in shown.fences] == ["assert 1\nassert 0"]
