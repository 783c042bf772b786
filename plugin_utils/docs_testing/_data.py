"""Check the blocks that are not run: data has to parse, Markdown has to be a page."""

import configparser
import json
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import yaml

from plugin_utils.docs_testing._block import BlockError, Place

__all__ = ("DATA", "check_data", "check_markdown")


def check_data(language: str, code: str, places: Sequence[Place]) -> None:
    """Parse the block by the language's own parser."""
    try:
        DATA[language](code)
    except (ValueError, yaml.YAMLError, configparser.Error) as error:
        said = re.search(r"line\s+(\d+)", str(error))
        number = int(said[1]) if said else 1  # a parser may say "line 0"
        place = places[min(max(number, 1), len(places)) - 1]
        raise BlockError(place, f"not {language}: {error}") from error


def check_markdown(code: str, places: Sequence[Place], config: Path) -> None:
    """Read the block as a page of the site: its fences are closed and its marks are marks.

    Includes stay as they are written, since a page about includes shows them.
    """
    # Only this language needs MkDocs in the block's process.
    from plugin_utils.docs_testing._extract import blocks
    from plugin_utils.docs_testing._pages import Site

    parsed = Site(config).parse(code, Path(places[0].file), includes=False)
    last = len(places) - 1
    page = replace(parsed, places=[places[min(line.line - 1, last)] for line in parsed.places])
    for stray in page.stray_fences():
        raise BlockError(stray, "a fence that MkDocs does not read as one")
    blocks(page)


def _parse_yaml(code: str) -> None:
    # The tree is enough: a tag such as `!ENV` means something to the program that reads the file.
    for _ in yaml.compose_all(code, Loader=yaml.SafeLoader):
        pass


def _parse_ini(code: str) -> None:
    configparser.ConfigParser(interpolation=None).read_string(code)


DATA: dict[str, Callable[[str], object]] = {
    "ini": _parse_ini,
    "json": json.loads,
    "toml": tomllib.loads,
    "yaml": _parse_yaml,
}
