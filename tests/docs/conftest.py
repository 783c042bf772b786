"""Builds the site once, as `make site` does."""

from pathlib import Path

import pytest

from tests.support.site import built


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site, built strictly: a warning fails every test that uses it."""
    return built(tmp_path_factory)


@pytest.fixture(scope="session")
def pages(site: Path) -> list[Path]:
    """Return the HTML files of the site."""
    return sorted(site.rglob("*.html"))
