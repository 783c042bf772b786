"""The sites that many tests look at; each is made once."""

from collections import Counter
from collections.abc import Iterator

import pytest

from plugin_utils.docs_testing._runner import Options
from tests.docs_testing import sites
from tests.docs_testing.forms import FORMS, LOG, SNIPPETS
from tests.docs_testing.sites import Bench, Run

LOADERS = '''\
"""Loads titled blocks."""

import json
import os


def settings(path):
    assert path.name == "settings.json", path
    assert not set(json.loads(path.read_text())) - {"key"}, "unknown setting"
    print(os.environ["HOME"])
'''


@pytest.fixture(scope="session")
def forms(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Counter[str]]:
    """Run every form; return what pytest said, and how often each tag was left by a block."""
    folder = tmp_path_factory.mktemp("forms")
    files = {f"docs/{name}.md": form.page for name, form in FORMS.items()}
    files |= {f"snippets/{name}": text for name, text in SNIPPETS.items()}
    site = sites.write(folder, {**files, "log.py": LOG})
    log = site / "log.txt"
    result = sites.run(site, environ={"FORMS_LOG": str(log)})
    return result, Counter(log.read_text("utf-8").split())


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Give a site whose blocks run without pytest around them."""
    folder = tmp_path_factory.mktemp("bench")
    options = Options(
        base=folder,
        limit=20,
        unset=["BENCH_*"],
        path=[str(folder / "library")],
        loaders={"etc/settings.json": "loaders:settings", "*.tree": "loaders:settings"},
    )
    files = {f"snippets/{name}": text for name, text in SNIPPETS.items()}
    result = Bench(folder, options, {**files, "loaders.py": LOADERS, "library/shelf.py": "X = 1\n"})
    yield result
    result.runner.close()
