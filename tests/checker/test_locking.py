"""One slot, one lock: the rewrite takes the lock that others hold, or makes one for all."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from plugin_utils.checker import check_source, fix_source
from plugin_utils.checker.command import check

ACCESSOR = """
def {name}():
    global _client
    if _client is None:
        _client = Client()
    return _client
"""
GET = ACCESSOR.format(name="get")
TWO = "_client = None\n" + GET + ACCESSOR.format(name="init")
CHECKED = """
def init():
    global _client
    client = _client
    if client is None:
        with {lock}:
            client = _client
            if client is None:
                _client = client = Client()
    return client
"""
RESET = """
def reset():
    global _client
    with {lock}:
        _client = None
"""


def fixed(text: str) -> str:
    """Return `text` with everything fixed that can be."""
    return fix_source(text, check_source(text))


def locks_in(text: str) -> list[str]:
    """Return the locks that are made and taken, in the order of the lines."""
    return [line.strip() for line in text.splitlines() if "Lock()" in line or "with " in line]


def test_two_accessors_of_one_slot_get_one_lock() -> None:
    """Either may come first, and the other has to wait for it."""
    text = fixed(TWO)
    assert locks_in(text) == [
        "_client_lock = threading.RLock()",
        "with _client_lock:",
        "with _client_lock:",
    ]
    assert check_source(text) == []


def test_two_accessors_get_one_lock_though_the_slot_stands_below_them() -> None:
    """Nothing can run between the slot and the lock right below it."""
    text = fixed(TWO.removeprefix("_client = None\n") + "\n_client = None\n")
    assert locks_in(text).count("with _client_lock:") == 2


def test_two_accessors_that_race_build_once() -> None:
    """One thread in each; a builder waits until both are builders, which only a race lets them."""
    source = "builds = []\nclass Client:\n    def __init__(self):\n        met(self)\n" + TWO
    assert racing_builds(source, limit=20) == 2
    assert racing_builds(fixed(source), limit=0.2) == 1


def racing_builds(source: str, limit: float) -> int:
    """Call `get` and `init` of `source` at once; return how many clients were built."""
    builds: list[object] = []
    meet = threading.Barrier(2)

    def met(client: object) -> None:
        builds.append(client)
        with suppress(threading.BrokenBarrierError):
            meet.wait(limit)

    namespace: dict[str, Any] = {"met": met}
    exec(source, namespace)  # noqa: S102 - the text is this module's own
    accessors: list[Callable[[], object]] = [namespace["get"], namespace["init"]]
    threads = [threading.Thread(target=accessor) for accessor in accessors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    return len(builds)


@pytest.mark.parametrize("made", ["threading.Lock()", "threading.RLock()", "RLock()"])
@pytest.mark.parametrize("other", [CHECKED, RESET], ids=["built", "emptied"])
def test_the_lock_that_another_function_holds_is_taken(made: str, other: str) -> None:
    """Whatever it is called; nothing new is made, and nothing else changes."""
    head = f"import threading\nfrom threading import RLock\n_client = None\n_guard = {made}\n"
    text = head + other.format(lock="_guard") + GET
    after = fixed(text)
    assert after.startswith(head + other.format(lock="_guard"))
    assert locks_in(after)[-1] == "with _guard:"
    assert after.count("Lock()") == text.count("Lock()")
    assert check_source(after) == []


def test_a_lock_of_the_right_name_that_guards_something_else_is_not_taken() -> None:
    """Who holds it around other work would keep the builders waiting."""
    text = "import threading\n_client = None\n_client_lock = threading.Lock()\n" + GET
    assert locks_in(fixed(text))[-1] == "with _client_build_lock:"


def test_a_lock_that_is_new_for_every_caller_is_no_lock_to_share() -> None:
    """It keeps nobody out, so it stays a finding, and the accessor gets a lock of its own."""
    text = "import threading\n_client = None\n" + RESET.format(lock="threading.Lock()") + GET
    assert "with _client_lock:" in fixed(text)


HEAD = "import threading\n_client = None\n_lock = threading.{kind}()\n"
LOCK, RLOCK = HEAD.format(kind="Lock"), HEAD.format(kind="RLock")

REFUSED = {
    "two locks": (
        RLOCK
        + "_other = threading.RLock()\n"
        + RESET.format(lock="_lock")
        + CHECKED.format(lock="_other")
        + GET,
        "no one lock of the module is held wherever `_client` is stored, but `_lock`, `_other`",
    ),
    "another module's lock": (
        "from locks import client_lock\n_client = None\n" + RESET.format(lock="client_lock") + GET,
        "no one lock of the module is held wherever `_client` is stored, but `client_lock`",
    ),
    "an attribute": (
        "import locks\n_client = None\n" + RESET.format(lock="locks.client_lock") + GET,
        "no one lock of the module is held wherever `_client` is stored, but `locks.client_lock`",
    ),
    "a lock of asyncio": (
        "import asyncio\n_client = None\n_lock = asyncio.Lock()\n"
        + RESET.format(lock="_lock")
        + GET,
        "no one lock of the module is held wherever `_client` is stored, but `_lock`",
    ),
    "callers that hold it": (
        LOCK
        + "def _fill_locked():\n    global _client\n    if _client is None:\n"
        + "        _client = Client()\n"
        + GET,
        "`_fill_locked` stores `_client` under a lock that its callers hold",
    ),
    "a lock below the accessor": (
        "import threading\n_client = None\n"
        + GET
        + "get()\n_lock = threading.RLock()\n"
        + RESET.format(lock="_lock"),
        "`_lock` is not made above `get`",
    ),
    "a Lock that the build takes": (
        LOCK + "class Client:\n    def __init__(self):\n        note()\n"
        "def note():\n    with _lock:\n        pass\n" + RESET.format(lock="_lock") + GET,
        "`_lock` is a `Lock`, which might be held already: make it an `RLock`",
    ),
    "a Lock that is held by a caller": (
        LOCK
        + RESET.format(lock="_lock")
        + GET
        + "def use():\n    with _lock:\n        get().send()\n",
        "`_lock` is a `Lock`, which might be held already: make it an `RLock`",
    ),
    "a Lock that is held in unknown places": (
        LOCK + RESET.format(lock="_lock") + GET + "def use():\n    hold(_lock)\n",
        "`_lock` is a `Lock`, which might be held already: make it an `RLock`",
    ),
}

HELD = "`_lock` is a `Lock`, which might be held already: make it an `RLock`"
UNNAMED = {
    f"a Lock under which comes {who}": (
        LOCK + RESET.format(lock="_lock") + GET + dedent(text),
        HELD,
    )
    for who, text in {
        "what is passed in": "def run(task):\n    with _lock:\n        task()\n",
        "a method of what is passed in": "def run(task):\n    with _lock:\n        task.run()\n",
        "the block of a context manager": "def held():\n    with _lock:\n        yield\n",
        "what a decorator wraps": """
            def locked(function):
                def wrapper():
                    with _lock:
                        return function()
                return wrapper
            """,
        "what is put into a table": """
            _hooks = []
            _hooks.append(get)
            def run():
                with _lock:
                    _hooks[0]()
            """,
        "what a variable comes to hold": """
            _hook = None
            def set_hook(hook):
                global _hook
                _hook = hook
            set_hook(get)
            def run():
                with _lock:
                    _hook()
            """,
        "another object's method": """
            class Proxy:
                def __getattr__(self, name):
                    return getattr(get(), name)
            _proxy = Proxy()
            def run():
                with _lock:
                    _proxy.ping
            """,
    }.items()
}
TAKEN = {
    "a Lock that the build takes by another name": (
        LOCK
        + "def note():\n    with _lock:\n        pass\n_note = note\n"
        + RESET.format(lock="_lock")
        + GET.replace("Client()", "Client(_note())"),
        HELD,
    ),
    "a lock that is made later": (
        "import threading\n_client = None\n_lock = None\n"
        + GET
        + "get()\n_lock = threading.RLock()\n"
        + RESET.format(lock="_lock"),
        "`_lock` is not made above `get`",
    ),
    "a lock that both sides take": (
        RLOCK
        + "def note():\n    with _lock:\n        return 1\n"
        + GET.replace("Client()", "Client(note())")
        + "def use():\n    with _lock:\n        return get()\n",
        "its build takes `_lock`, and it is called under that lock, too",
    ),
}


ALL_REFUSED = REFUSED | UNNAMED | TAKEN


@pytest.mark.parametrize(("text", "reason"), ALL_REFUSED.values(), ids=ALL_REFUSED)
def test_an_accessor_whose_lock_is_not_certain_is_left_alone_and_told_why(
    text: str, reason: str
) -> None:
    """A guess would be a second lock, or a thread that waits for itself."""
    refused = [finding for finding in check_source(text) if finding.refusal]
    assert [(finding.function, finding.refusal) for finding in refused] == [("get", reason)]
    assert not any(finding.fixable for finding in refused)
    assert fixed(text) == text


def test_a_lock_is_taken_though_what_is_imported_below_it_is_called() -> None:
    """An import names what comes, wherever it stands."""
    text = LOCK + GET + "def reset():\n    global _client\n    with _lock:\n"
    text += "        from log import note\n        note()\n        _client = None\n"
    assert locks_in(fixed(text))[-2:] == ["with _lock:", "with _lock:"]


def test_a_lock_that_may_be_taken_twice_is_taken_where_the_build_takes_it_too() -> None:
    """Nobody waits for another lock while holding it."""
    text = RLOCK + RESET.format(lock="_lock") + "def note():\n    with _lock:\n        return 1\n"
    text += GET.replace("Client()", "Client(note())")
    text += "def use():\n    with _lock:\n        return get()\n"
    assert locks_in(fixed(text)).count("with _lock:") == 4


def test_a_lock_that_may_be_taken_twice_is_taken_where_a_caller_holds_it() -> None:
    """An `RLock` lets its holder in."""
    text = RLOCK + RESET.format(lock="_lock") + GET + "def use():\n    with _lock:\n        get()\n"
    assert locks_in(fixed(text)).count("with _lock:") == 3


def test_what_the_fix_before_it_made_unsafe_is_left_out() -> None:
    """The build of one takes the `Lock` that both are to hold, once the other is rewritten."""
    text = dedent("""
        import threading
        _lock = threading.Lock()
        _a = None
        _b = None
        def reset():
            global _a, _b
            with _lock:
                _a = None
                _b = None
        def get_a():
            global _a
            if _a is None:
                _a = Client()
            return _a
        def get_b():
            global _b
            if _b is None:
                _b = Client(get_a())
            return _b
        """)
    assert sorted(f.function for f in check_source(text) if f.fixable) == ["get_a", "get_b"]
    after = fixed(text)
    assert locks_in(after).count("with _lock:") == 2
    (left,) = (finding for finding in check_source(after) if finding.level)
    assert (left.function, left.fixable) == ("get_b", False)


def test_the_command_says_why_it_left_an_accessor_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On standard error, with the line; the finding stays."""
    text, reason = REFUSED["two locks"]
    (tmp_path / "racy.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert check(["racy.py", "--fix"]) == 1
    line = text.splitlines().index("        _client = Client()") + 1
    assert capsys.readouterr().err == f"racy.py:{line}:9: not rewritten: {reason}\n"
    assert (tmp_path / "racy.py").read_text(encoding="utf-8") == text
