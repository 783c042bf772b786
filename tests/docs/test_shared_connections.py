"""No page shares between threads a SQLite connection that only its own thread may use."""

from collections.abc import Iterator
from pathlib import Path

from plugin_utils.docs_testing._extract import blocks
from plugin_utils.docs_testing._pages import Site

ROOT = Path(__file__).parents[2]
# Connections that no second thread sees: the line, and why it needs no option.
OF_ONE_THREAD = {
    'self.connection = sqlite3.connect(":memory:")': "of a threading.local",
    'with closing(sqlite3.connect("shared.db", timeout=10)) as database, database:': "closed here",
    "def counting_connect(*args, connect=sqlite3.connect, **options):": "hands the options on",
    "sqlite3.connect = counting_connect": "hands the options on",
}


def lines() -> Iterator[tuple[str, str]]:
    """Yield where a block opens a connection, and the line."""
    source = Site(ROOT / "mkdocs.yml")
    for page in source.pages:
        for block in blocks(source.read(page)):
            for line in block.code.splitlines():
                if "sqlite3.connect" in line:
                    yield str(block.place), line.strip()


def test_shared_connections_may_be_used_by_every_thread() -> None:
    """A reader who copies a block gets no `ProgrammingError` from the second thread."""
    found = list(lines())
    assert OF_ONE_THREAD.keys() <= {line for _, line in found}
    assert not [
        (place, line)
        for place, line in found
        if line not in OF_ONE_THREAD and "check_same_thread=False" not in line
    ]
