"""Write the guide for machine readers: `llms.txt`, and each page's Markdown beside its HTML.

A page's Markdown is what its author wrote, with the included files and the docstrings in their
places, so that it can be read alone.
"""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import griffe
import markdown
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.nav import Navigation, Section
from mkdocs.structure.pages import Page

_DOCSTRING = re.compile(r"^::: (?P<path>[\w.]+)\n(?:    .*\n?)*", re.MULTILINE)

_pages: list[tuple[str, Page]] = []


def on_nav(nav: Navigation, **_: object) -> None:
    """Note the pages in the order of the navigation, each with the name of its section."""
    _pages[:] = [(section, page) for item in nav.items for section, page in _walk(item, "")]


def on_post_build(config: MkDocsConfig) -> None:
    """Write the files, once the pages have their titles."""
    site = Path(config.site_dir)
    for _, page in _pages:
        (site / _markdown_name(page)).write_text(_expand(page.markdown or "", config), "utf-8")
    (site / "llms.txt").write_text("\n".join(_index(config)) + "\n", "utf-8")


def _walk(item: object, section: str) -> Iterator[tuple[str, Page]]:
    if isinstance(item, Page):
        yield section, item
    elif isinstance(item, Section):
        for child in item.children:
            yield from _walk(child, section or item.title)


def _index(config: MkDocsConfig) -> Iterator[str]:
    yield f"# {config.site_name}\n\n> {config.site_description}"
    above = None
    for section, page in _pages:
        if section != above:
            yield f"\n## {section}\n" if section else ""
            above = section
        about = page.meta.get("description")
        yield f"- [{page.title}]({_markdown_name(page)})" + (f": {about}" if about else "")


def _markdown_name(page: Page) -> str:
    return str(PurePosixPath(page.file.dest_uri).with_suffix(".md"))


def _expand(text: str, config: MkDocsConfig) -> str:
    includes = "pymdownx.snippets"
    reader = markdown.Markdown(
        extensions=[includes], extension_configs={includes: config.mdx_configs[includes]}
    )
    text = "\n".join(reader.preprocessors["snippet"].run(text.split("\n")))
    return _DOCSTRING.sub(lambda match: _docstrings(match["path"]), text)


def _docstrings(path: str) -> str:
    """Return the docstrings of an object and of its public methods."""
    found = griffe.load(path, search_paths=["."], allow_inspection=False)
    objects = [found, *(each for each in found.members.values() if each.is_public)]
    return "".join(
        f"### `{each.path}`\n\n{each.docstring.value}\n\n" for each in objects if each.docstring
    )
