"""The checker finds in your code what went wrong in that of others."""

import pytest

from plugin_utils.checker import check_source

FAULTS = {
    "two-first-callers": """\
_client = None

def client():
    global _client
    if _client is None:
        _client = HttpClient()  # LS001
    return _client
""",
    "done-before-it-is": """\
_done = False
_allowed = False

def allowed():
    global _done, _allowed
    if _done:
        return _allowed
    _done = True  # LS010
    _allowed = read_setting()
    return _allowed
""",
    "half-built": """\
import threading

_lock = threading.Lock()
_registry = None

def registry():
    global _registry
    if _registry is None:
        with _lock:
            if _registry is None:
                _registry = PluginRegistry()  # LS021
                _registry.load("plugins")
    return _registry
""",
    "one-for-each-object": """\
import threading

class Provider:
    def start(self):
        threading.Thread(target=self.prefetch).start()

    def prefetch(self):
        return self.client().get()

    def client(self):
        if self._client is None:
            self._client = HttpClient()  # LS060
        return self._client
""",
    "cached-property-lost-its-lock": """\
import functools

class Provider:
    @functools.cached_property
    def client(self):  # LS090
        return HttpClient()
""",
    "read-twice": """\
import threading

_lock = threading.Lock()
_client = None

def client():
    global _client
    if _client is None:
        with _lock:
            if _client is None:
                _client = HttpClient()  # LS013
    return _client

def reset():
    global _client
    with _lock:
        _client = None
""",
    "done-while-it-waited": """\
import threading

_lock = threading.Lock()
_client = None

def client():
    global _client
    if _client is None:
        with _lock:
            _client = HttpClient()  # LS020
    return _client
""",
    "two-locks-for-one-key": """\
import threading

_locks = {}

def lock_of(path):
    if path not in _locks:
        _locks[path] = threading.Lock()  # LS030
    return _locks[path]
""",
    "lock-made-on-first-use": """\
import threading

_lock = None

def lock():
    global _lock
    if _lock is None:
        _lock = threading.Lock()  # LS030
    return _lock
""",
    "tasks-race-too": """\
_session = None

async def session():
    global _session
    if _session is None:
        _session = await open_session()  # LS040
    return _session
""",
    "cache-is-not-once": """\
import functools

@functools.cache
def client():  # LS090
    return HttpClient()
""",
    "lock-made-by-its-user": """\
import threading

_client = None

def client():
    global _client
    with threading.Lock():
        if _client is None:
            _client = HttpClient()  # LS023
    return _client
""",
    "wrong-test-reported": """\
_client = None

def client():
    global _client
    if True:
        if _client is None:
            _client = HttpClient()  # LS001
    return _client
""",
    "cache-taken-for-once": """\
import functools

@functools.lru_cache(maxsize=None)
def engine():  # LS090
    return create_engine("sqlite://")
""",
}


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(source, marks=pytest.mark.learned(lesson), id=lesson)
        for lesson, source in FAULTS.items()
    ],
)
def test_checker_reports_the_fault_and_nothing_else(source: str) -> None:
    """One finding, where the comment announces it."""
    announced = [
        (number, line.partition("# ")[2])
        for number, line in enumerate(source.splitlines(), 1)
        if "# LS" in line
    ]
    found = [finding for finding in check_source(source) if finding.level.label != "info"]
    assert [(finding.line, finding.code) for finding in found] == announced


@pytest.mark.learned("cache-taken-for-once")
def test_checker_leaves_a_cached_value_alone() -> None:
    """Equal values can replace each other: that is no more than information."""
    source = "import functools\n\n@functools.lru_cache\ndef area(r):\n    return 3 * r * r\n"
    assert {finding.level.label for finding in check_source(source)} == {"info"}
