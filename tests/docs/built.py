"""Reads pages of the built site."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

__all__ = ("Element", "read")


@dataclass(frozen=True)
class Element:
    """A start tag of a page."""

    tag: str
    attributes: dict[str, str]

    @property
    def classes(self) -> set[str]:
        """The element's classes."""
        return set(self.attributes.get("class", "").split())


@dataclass
class _Collector(HTMLParser):
    found: list[Element] = field(default_factory=list[Element])

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(Element(tag, {name: value or "" for name, value in attrs}))


def read(page: Path) -> list[Element]:
    """Return the elements of a page, in order."""
    collector = _Collector()
    collector.feed(page.read_text("utf-8"))
    return collector.found
