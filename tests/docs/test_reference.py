"""The reference names what the code has, all of it and nothing else."""

import inspect
import re
import zlib
from importlib import import_module
from inspect import get_annotations
from pathlib import Path
from pkgutil import iter_modules

import pytest

import plugin_utils
from plugin_utils import errors
from tests.docs.tables import ROOT, codes, table

# Commands and pytest plugins: their pages describe how to run them.
COMMANDS = {"checker", "cli", "docs_testing", "vendoring"}
# What the package itself exports is documented under its short name.
RE_EXPORTED = {"errors"}
MODULES = [
    "plugin_utils",
    *sorted(
        f"plugin_utils.{module.name}"
        for module in iter_modules(plugin_utils.__path__)
        if not module.name.startswith("_") and module.name not in COMMANDS | RE_EXPORTED
    ),
]


def documented(site: Path) -> set[str]:
    """Return the objects that have a place in the reference: the site's Sphinx inventory."""
    data = (site / "objects.inv").read_bytes()
    body = data.split(b"zlib.\n", 1)[1]
    return {line.split()[0] for line in zlib.decompress(body).decode().splitlines()}


def exported(module: str) -> set[str]:
    """Return the full names of what a module exports."""
    return {f"{module}.{name}" for name in import_module(module).__all__}


def docstrings(documented: object) -> list[str]:
    """Return the docstring of an object, and those of its own methods."""
    own = [member for name, member in vars(documented).items() if not name.startswith("_")]
    return [f"{inspect.getdoc(each)}\n" for each in (documented, *own)]


@pytest.mark.parametrize("module", MODULES)
def test_every_exported_name_is_documented(site: Path, module: str) -> None:
    """The reference has an entry for each name in `__all__`."""
    assert not exported(module) - documented(site)


def test_nothing_else_is_documented() -> None:
    """What the pages take from docstrings is exported."""
    named = {
        name
        for page in (ROOT / "docs").rglob("*.md")
        for name in re.findall(r"^::: (\S+)", page.read_text("utf-8"), re.MULTILINE)
    }
    assert not named - set[str]().union(*map(exported, MODULES))


def test_the_table_of_errors_is_complete() -> None:
    """The page of errors has each class with its base and its attributes, and no other."""
    rows = table("docs/reference/errors.md", "Error")
    told = [(codes(row[0])[0], codes(row[1])[0], codes(row[2])) for row in rows]
    classes: list[type] = [getattr(errors, name) for name in errors.__all__]
    true = [
        (each.__name__, each.__mro__[1].__name__, list(get_annotations(each))) for each in classes
    ]
    assert sorted(told) == sorted(true)


def test_the_page_of_errors_has_what_the_docstrings_say() -> None:
    """Each class that a primitive says it raises is named there; `Exception` stands for yours."""
    said = {
        name
        for exported in plugin_utils.__all__
        for text in docstrings(getattr(plugin_utils, exported))
        for section in re.findall(r"^ *Raises:\n((?:.+\n)+)", text, re.MULTILINE)
        for name in re.findall(r"^ *(\w+): ", section, re.MULTILINE)
    }
    assert said >= {"ExceptionGroup", "RecursiveBuildError", "TypeError"}
    page = (ROOT / "docs/reference/errors.md").read_text("utf-8")
    assert {name for name in said if f"`{name}`" not in page} == {"Exception"}


@pytest.mark.parametrize("row", table("README.md", "Path"), ids=lambda row: row[0])
def test_the_readme_names_what_is_there(row: list[str]) -> None:
    """Each path of the README's layout exists."""
    for path in codes(row[0]):
        assert (ROOT / path).exists()
