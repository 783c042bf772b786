"""The rewrites: what they give, what they leave alone, and that the race is gone."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest

from plugin_utils.checker import check_source, fix, fix_source
from plugin_utils.checker.source import read

FIXABLE = Path(__file__).parent / "fixable"


def fixed(text: str, *, unsafe: bool = False) -> str:
    """Return `text` with everything fixed that can be."""
    return fix_source(text, check_source(text), unsafe=unsafe)


@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
@pytest.mark.parametrize("path", sorted(FIXABLE.glob("*.before.py")), ids=lambda path: path.stem)
def test_a_rewrite_gives_the_text_that_is_kept_beside_it(path: Path, *, unsafe: bool) -> None:
    """The result is compared in full, white space and comments too."""
    after = path.with_name(path.name.replace("before", "unsafe" if unsafe else "after"))
    assert fixed(read(str(path)).text, unsafe=unsafe) == read(str(after)).text


@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
@pytest.mark.parametrize("path", sorted(FIXABLE.glob("*.before.py")), ids=lambda path: path.stem)
def test_what_was_rewritten_is_clean_and_stays_as_it_is(path: Path, *, unsafe: bool) -> None:
    """A second run finds nothing to do, and so changes nothing."""
    once = fixed(read(str(path)).text, unsafe=unsafe)
    assert not any(finding.fixable for finding in check_source(once))
    assert fixed(once, unsafe=unsafe) == once


BUILD = """
class Client:
    def __init__(self):
        builds.append(self)
        wait_for_the_others()

_client = None

def client():
    global _client
    if _client is None:
        _client = Client()
    return _client
"""

NEVER = {
    "arguments": """
        _x = None
        def get(url):
            global _x
            if _x is None:
                _x = Client(url)
            return _x
        """,
    "a decorator": """
        _x = None
        @traced
        def get():
            global _x
            if _x is None:
                _x = Client()
            return _x
        """,
    "a method": """
        _x = None
        class Holder:
            def get(self):
                global _x
                if _x is None:
                    _x = Client()
                return _x
        """,
    "a coroutine": """
        _x = None
        async def get():
            global _x
            if _x is None:
                _x = await connect()
            return _x
        """,
    "a nested function": """
        _x = None
        def outer():
            def get():
                global _x
                if _x is None:
                    _x = Client()
                return _x
            return get
        """,
    "an annotation that allows None": """
        _x = None
        def get() -> Client | None:
            global _x
            if _x is None:
                _x = Client()
            return _x
        """,
    "a value that can be None": """
        _x = None
        def get():
            global _x
            if _x is None:
                _x = Client() if ready() else None
            return _x
        """,
    "a lookup that can give None": """
        _x = None
        def get():
            global _x
            if _x is None:
                client = None or clients.get("a")
                _x = client
            return _x
        """,
    "a builder that can return None": """
        _x = None
        def make_client():
            if ready():
                return Client()
            return None
        def get():
            global _x
            if _x is None:
                _x = make_client()
            return _x
        """,
    "a builder that falls off its end": """
        _x = None
        def make_client():
            log()
        def get():
            global _x
            if _x is None:
                _x = make_client()
            return _x
        """,
    "a builder that falls off an if": """
        _x = None
        def make_client():
            if ready():
                return Client()
        def get():
            global _x
            if _x is None:
                _x = make_client()
            return _x
        """,
    "a builder that falls off an else": """
        _x = None
        def make_client():
            if ready():
                return Client()
            else:
                log()
        def get():
            global _x
            if _x is None:
                _x = make_client()
            return _x
        """,
    "a builder that falls off a handler": """
        _x = None
        def make_client():
            try:
                return Client()
            except OSError:
                pass
        def get():
            global _x
            if _x is None:
                _x = make_client()
            return _x
        """,
    "a builder that falls off a with": """
        _x = None
        def make_client():
            with lock:
                if ready():
                    return Client()
        def get():
            global _x
            if _x is None:
                _x = make_client()
            return _x
        """,
    "a builder that falls off what is suppressed": """
        _x = None
        def make_client():
            with suppress(OSError):
                return Client()
        def get():
            global _x
            if _x is None:
                _x = make_client()
            return _x
        """,
    "a builder that falls off a match": """
        _x = None
        def make_client():
            match kind():
                case "a":
                    return Client()
        def get():
            global _x
            if _x is None:
                _x = make_client()
            return _x
        """,
    "a builder that falls off a case": """
        _x = None
        def make_client():
            match kind():
                case "a":
                    log()
                case _:
                    return Client()
        def get():
            global _x
            if _x is None:
                _x = make_client()
            return _x
        """,
    "a local that is declared to begin as None": """
        _x = None
        def get():
            global _x
            if _x is None:
                client: Client | None = None
                if ready():
                    client = Client()
                _x = client
            return _x
        """,
    "a builder that says Optional": """
        _x = None
        def make_client() -> Optional[Client]:
            return Client()
        def get():
            global _x
            if _x is None:
                _x = make_client()
            return _x
        """,
    "a builder that comes back": """
        _x = None
        def get():
            global _x
            if _x is None:
                _x = Client()
            return _x
        class Client:
            def __init__(self):
                self.connect()
            def connect(self):
                get()
        """,
    "another return": """
        _x = None
        def get():
            global _x
            if _x is not None:
                return _x
            if not ready():
                return False
            _x = Client()
            return _x
        """,
    "another read": """
        _x = None
        def get():
            global _x
            if _x is None:
                _x = Client()
                log(_x)
            return _x
        """,
    "work on the object in its slot": """
        _x = None
        def get():
            global _x
            if _x is None:
                _x = Client()
                _x.configure()
            return _x
        """,
    "work on the object after the store": """
        _x = None
        def get():
            global _x
            if _x is None:
                client = Client()
                _x = client
                client.configure()
            return _x
        """,
    "work on the object after the branch of the store": """
        _x = None
        def get():
            global _x
            if _x is not None:
                return _x
            client = Client()
            if ready():
                _x = client
            client.configure()
            return client
        """,
    "another slot": """
        _x = None
        _name = None
        def get():
            global _x, _name
            if _x is None:
                _x = Client()
                _name = "a"
            return _x
        """,
    "a tuple": """
        _x = None
        def get():
            global _x, _y
            if _x is None:
                _x, _y = Client(), 1
            return _x
        """,
    "a test of more": """
        _x = None
        def get():
            global _x
            if _x is None or stale():
                _x = Client()
            return _x
        """,
    "a test on one line with its build": """
        _x = None
        def get():
            global _x
            if _x is None: _x = Client()
            return _x
        """,
    "a test that looks the wrong way": """
        _x = None
        def get():
            global _x
            if _x is not None:
                _x = Client()
            return _x
        """,
    "an else": """
        _x = None
        def get():
            global _x
            if _x is None:
                _x = Client()
            else:
                log()
            return _x
        """,
    "work after the build": """
        _x = None
        def get():
            global _x
            if _x is None:
                _x = Client()
            log()
            return _x
        """,
    "no return": """
        _x = None
        def get():
            global _x
            if _x is None:
                _x = Client()
        """,
    "a slot that starts with something": """
        _x = False
        def get():
            global _x
            if not _x:
                _x = Client()
            return _x
        """,
    "a slot that is bound twice": """
        _x = None
        _x = None
        def get():
            global _x
            if _x is None:
                _x = Client()
            return _x
        """,
    "another module's attribute": """
        import shared
        def get():
            if shared.x is None:
                shared.x = Client()
            return shared.x
        """,
    "another threading": """
        from gevent import threading
        _x = None
        def get():
            global _x
            if _x is None:
                _x = Client()
            return _x
        """,
    "a threading of the module's own": """
        threading = None
        _x = None
        def get():
            global _x
            if _x is None:
                _x = Client()
            return _x
        """,
    "a generator": """
        _x = None
        def get():
            global _x
            if _x is None:
                yield
                _x = Client()
            return _x
        """,
    "another function that the accessor calls stores": """
        _x = None
        def fall_back():
            global _x
            _x = 1
        def get():
            global _x
            if _x is None:
                try:
                    _x = Client()
                except OSError:
                    fall_back()
            return _x
        """,
    "a statement that goes on where the lock would stand": """
        _x = None; TEXT = (
            "hello")
        def get():
            global _x
            if _x is None:
                _x = Client()
            return _x
        """,
    "a method that can give None": """
        _x = None
        class Factory:
            @staticmethod
            def client():
                if URL:
                    return Client(URL)
        def get():
            global _x
            if _x is None:
                _x = Factory.client()
            return _x
        """,
    "a lambda": """
        _x = None
        make = lambda: Client() if URL else None
        def get():
            global _x
            if _x is None:
                _x = make()
            return _x
        """,
    "a nested builder": """
        _x = None
        def get():
            def build():
                if URL:
                    return Client(URL)
            global _x
            if _x is None:
                _x = build()
            return _x
        """,
    "no free name for the local": """
        _x = None
        x = found = x_now = 1
        def get():
            global _x
            if _x is None:
                _x = Client()
            return _x
        """,
    "no free name for the lock": """
        _x = _x_lock = _x_build_lock = None
        _x = None
        def get():
            global _x
            if _x is None:
                _x = Client()
            return _x
        """,
}


def test_import_does_not_get_into_another_statement() -> None:
    """One that goes on below the line of the import before it."""
    text = "import os; x = (\n    1)\n_c = None\n\ndef get():\n    global _c\n    if _c is None:\n"
    text += "        _c = Client()\n    return _c\n"
    rewritten = fix_source(text, check_source(text))
    assert rewritten.startswith("import threading\nimport os; x = (\n    1)\n_c = None\n")


def test_a_builder_that_the_accessor_imports_is_not_looked_up() -> None:
    """It is another module's, as one that is imported at the top."""
    text = "_c = None\ndef get():\n    global _c\n    if _c is None:\n"
    text += "        from sdk import make_client\n        _c = make_client()\n    return _c\n"
    assert "with _c_lock:" in fix_source(text, check_source(text))


def test_tabs_stay_tabs() -> None:
    """The rewrite is indented as the accessor is."""
    text = "_x = None\ndef get():\n\tglobal _x\n\tif _x is not None:\n\t\treturn _x\n"
    text += "\t_x = Client()\n\treturn _x\n"
    rewritten = fix_source(text, check_source(text))
    assert "\twith _x_lock:\n\t\tx = _x\n" in rewritten
    assert "\t\t_x = x = Client()\n" in rewritten
    assert "    " not in rewritten


@pytest.mark.parametrize("text", NEVER.values(), ids=NEVER)
def test_what_cannot_safely_be_rewritten_is_left_alone(text: str) -> None:
    """Not a character changes, and nothing is offered."""
    text = dedent(text)
    assert fixed(text, unsafe=True) == text
    assert not any(finding.fixable for finding in check_source(text))


BUILDERS = {
    "if and else": """
        if ready():
            return Client()
        else:
            raise RuntimeError
        """,
    "try": """
        try:
            return Client()
        except OSError:
            raise RuntimeError
        """,
    "try and else": """
        try:
            log()
        except OSError:
            return Client("")
        else:
            return Client()
        """,
    "finally": """
        try:
            log()
        finally:
            return Client()
        """,
    "with": """
        with open("key") as file, lock:
            return Client(file.read())
        """,
    "match": """
        match kind():
            case "a":
                return Client("a")
            case _:
                return Client()
        """,
}


@pytest.mark.parametrize("body", BUILDERS.values(), ids=BUILDERS)
def test_a_builder_that_always_returns_its_object_is_no_obstacle(body: str) -> None:
    """However its last statement is built up."""
    builder = "def make_client():\n" + indent(dedent(body).strip(), "    ") + "\n"
    text = f"{builder}_x = None\ndef get():\n    global _x\n    if _x is None:\n"
    text += "        _x = make_client()\n    return _x\n"
    assert "_x = found = make_client()" in fixed(text.replace("def get", "x = 1\ndef get"))


@pytest.mark.parametrize("slot", ["_lambda", "_import", "_async", "_class", "_global", "_", "_1"])
def test_a_slot_whose_name_leaves_no_variable_is_read_into_another(slot: str) -> None:
    """What is offered is done: a keyword is no name for a local."""
    text = BUILD.replace("_client", slot)
    (finding,) = check_source(text)
    assert finding.fixable
    assert f"    found = {slot}\n" in fixed(text)
    assert check_source(fixed(text)) == []


NOT_DECORATED = {
    "another slot on the line of the binding": (
        "_client = None\n",
        "_client = None; _model = None\n",
    ),
    "a comment at the binding": ("_client = None\n", "_client = None  # the one client\n"),
    "a comment above the binding": ("_client = None\n", "# The one client.\n_client = None\n"),
    "a call on the line of global": ("global _client\n", 'global _client; log("x")\n'),
    "a comment at global": ("global _client\n", "global _client  # the one client\n"),
    "a statement before the guard": ("    if _cl", "    if closed: raise RuntimeError\n    if _cl"),
    "a comment at the guard": ("None:\n", "None:  # first use\n"),
    "a comment after the store": ("    return _c", "        # It is ready.\n    return _c"),
    "a comment before the return": ("    return _c", "\n    # It is ready.\n    return _c"),
    "a comment at the return": ("return _client\n", "return _client  # ready\n"),
    "a store that is broken off": ("_client = Client()", "_client \\\n            = Client()"),
    "a keyword elsewhere": ("\ndef client", "\nglobals().update(_client=None)\n\ndef client"),
    "a path in a string elsewhere": ("\ndef client", "\nPATCHED = 'me._client'\n\ndef client"),
    "another lazy_singleton": ("\ndef client", "\nfrom mine import lazy_singleton\n\ndef client"),
    "a lazy_singleton of its own": ("\ndef client", "\nlazy_singleton = print\n\ndef client"),
}
EARLY = BUILD.replace(
    "    if _client is None:\n        _client = Client()\n",
    "    if _client is not None:\n        return _client\n    _client = Client()\n",
)
NOT_DECORATED_EARLY = {
    "a comment at the early return": (
        "        return _client\n",
        "        return _client  # hit\n",
    ),
    "the return on the line of the store": ("Client()\n    return", "Client(); return"),
}
CASES = [
    *((BUILD, *case) for case in NOT_DECORATED.values()),
    *((EARLY, *case) for case in NOT_DECORATED_EARLY.values()),
]


@pytest.mark.parametrize(("text", "old", "new"), CASES, ids=[*NOT_DECORATED, *NOT_DECORATED_EARLY])
def test_the_decorator_takes_nothing_away_but_the_slot(text: str, old: str, new: str) -> None:
    """Foreign code and comments stay, and so does what ran in every call: a lock is put in."""
    assert "@lazy_singleton" in fixed(text, unsafe=True)
    head, found, tail = text.rpartition(old) if "return" in old else text.partition(old)
    assert found
    text = head + new + tail
    assert "@lazy_singleton" not in fixed(text, unsafe=True)
    assert fixed(text, unsafe=True) == fixed(text)
    assert "with _client_lock:" in fixed(text)
    assert comments_in(fixed(text)) == comments_in(text)


def comments_in(text: str) -> list[str]:
    """Return what follows a number sign, line by line."""
    return [line.partition("#")[2] for line in text.splitlines() if "#" in line]


def test_a_decorator_that_is_imported_by_another_name_is_imported_by_its_own() -> None:
    """`lazy_singleton as once` binds no `lazy_singleton`."""
    text = "from plugin_utils import lazy_singleton as once\n" + BUILD
    assert "\nfrom plugin_utils import lazy_singleton\n" in fixed(text, unsafe=True)


def test_only_the_findings_that_were_asked_for_are_fixed() -> None:
    """A finding that the user does not see is not acted upon."""
    text = (FIXABLE / "forms.before.py").read_text(encoding="utf-8")
    assert fix_source(text, check_source(text)[:0]) == text


def test_a_fix_that_the_ones_before_it_made_impossible_is_left_out() -> None:
    """Three slots want two names for their locks; the third has to be done by hand."""
    text = "".join(
        f"{slot} = None\n"
        f"def get_{number}():\n"
        f"    global {slot}\n"
        f"    if {slot} is None:\n"
        f"        {slot} = Client()\n"
        f"    return {slot}\n"
        for number, slot in enumerate(("_x", "X", "x_"))
    )
    once = fixed(text)
    assert once.count("threading.RLock()") == 2
    assert [finding.name for finding in check_source(once)] == ["x_"]


@pytest.mark.parametrize("broken", ["def f(:", BUILD], ids=["no Python", "not fixed"])
def test_a_rewrite_that_would_not_keep_its_promise_is_not_made(
    monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    """Should a form of code slip through, the author's text stays as it is."""

    def rewrite(_plan: object, _text: str) -> str:
        return broken

    monkeypatch.setattr(fix, "_lock_in_place", rewrite)
    assert fixed(BUILD) == BUILD


def builds_of(source: str, threads: int, limit: float) -> int:
    """Run `client()` of `source` in several threads at once; return how many clients were built.

    A builder waits until all threads are builders, which they become if the code is racy. It gives
    up after `limit` seconds: long where the race is expected, short where nobody can come.
    """
    builds: list[object] = []
    meet = threading.Barrier(threads)

    def wait_for_the_others() -> None:
        with suppress(threading.BrokenBarrierError):
            meet.wait(limit)

    namespace: dict[str, Any] = {"builds": builds, "wait_for_the_others": wait_for_the_others}
    exec(source, namespace)  # noqa: S102 - the text is this module's own
    started = [threading.Thread(target=namespace["client"]) for _ in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join(30)
        assert not thread.is_alive()
    return len(builds)


@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
def test_eight_threads_build_eight_times_before_and_once_after(*, unsafe: bool) -> None:
    """The rewrite ends the race that it was made for."""
    assert builds_of(BUILD, 8, limit=20) == 8
    assert builds_of(fixed(BUILD, unsafe=unsafe), 8, limit=0.2) == 1
