"""Another module of the package that makes the one instance at import speaks against a finding."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from plugin_utils.checker import Level, check_source
from plugin_utils.checker.run import check_file

CORE = '''"""Use it so:

bus = Bus()
"""
import vendor

_client = None
_clients = {}


class Bus:
    _it = None

    def __new__(cls):
        if cls._it is None:
            cls._it = object.__new__(cls)
        return cls._it

    def __init__(self):
        self.rooms = dict(vendor.rooms())

    @staticmethod
    def client():
        if Bus._it is None:
            Bus._it = vendor.Client()
        return Bus._it


def client():
    global _client
    if _client is None:
        _client = vendor.Client()
    return _client


def client_of(name):
    if name not in _clients:
        _clients[name] = vendor.Client(name)
    return _clients[name]
'''
RESET = """

def forget():
    global _client
    _client = None
    Bus._it = None
"""


def write(folder: Path, texts: dict[str, str]) -> Path:
    """Write a package `app` of these texts, by their paths, and return the path of its core."""
    for name, text in {"core.py": CORE, "__init__.py": "", **texts}.items():
        path = folder / "app" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "app" / "core.py"


def levels_in(path: Path) -> dict[str, Level]:
    """Return the level of each finding of a module, by its function."""
    found = check_file(str(path))
    assert isinstance(found, list)
    return {finding.function: finding.level for finding in found}


ALL_HIGH = dict.fromkeys(["Bus.__new__", "Bus.client", "client", "client_of"], Level.HIGH)


def test_a_package_that_makes_nothing_at_import_changes_nothing(tmp_path: Path) -> None:
    """What stands in the docstring of the module itself is no call."""
    assert levels_in(write(tmp_path, {"other.py": "from .core import Bus, client\n"})) == ALL_HIGH


def test_a_module_without_a_package_has_no_others(tmp_path: Path) -> None:
    """Nor has a text without a place."""
    path = write(tmp_path, {"other.py": "from core import client\n\nclient()\n"})
    (path.parent / "__init__.py").unlink()
    assert levels_in(path) == ALL_HIGH
    assert {finding.level for finding in check_source(CORE)} == {Level.HIGH}


@pytest.mark.parametrize(
    "text",
    [
        "from .core import Bus\n\nbus = Bus()\n",
        "from app.core import Bus\n\nbus: Bus = Bus(\n)\n",
        "from .core import Bus\n\nBus()\n",
        "from .core import Bus as Bus\n\nbus=Bus()\n",
    ],
    ids=["kept", "annotated", "bare", "renamed"],
)
def test_a_class_that_is_called_at_import_is_surely_made_once(text: str, tmp_path: Path) -> None:
    """Not for certain: so it is medium. Its other methods do not come with it."""
    assert levels_in(write(tmp_path, {"other.py": text})) == ALL_HIGH | {
        "Bus.__new__": Level.MEDIUM
    }


@pytest.mark.parametrize(
    "texts",
    [
        {"other.py": "from .core import client\n\nclient()\n"},
        {"__init__.py": "from .core import client\n\nshared = client()\n"},
        {
            "__init__.py": "from .core import client\n",
            "other.py": "from . import client\n\nclient()\n",
        },
        {"sub/__init__.py": "", "sub/other.py": "from ..core import client\n\nclient()\n"},
    ],
    ids=["other", "package", "by way of", "below"],
)
def test_so_is_what_an_accessor_builds(texts: dict[str, str], tmp_path: Path) -> None:
    """Wherever in the package the call stands."""
    assert levels_in(write(tmp_path, texts)) == ALL_HIGH | {"client": Level.MEDIUM}


def test_the_outermost_package_counts(tmp_path: Path) -> None:
    """A module of an inner one is called by the modules of all."""
    text = "from .sub.core import client\n\nclient()\n"
    write(tmp_path, {"sub/__init__.py": "", "sub/core.py": CORE, "other.py": text})
    assert levels_in(tmp_path / "app" / "sub" / "core.py") == ALL_HIGH | {"client": Level.MEDIUM}


@pytest.mark.parametrize(
    "text",
    [
        "from .core import Bus, client\n\n\ndef start():\n    client()\n    return Bus()\n",
        "from vendor import Bus, client\n\nclient()\nbus = Bus()\n",
        "class Bus:\n    pass\n\n\ndef client():\n    pass\n\n\nclient()\nbus = Bus()\n",
        "from .core import Bus, client\n\nclient()\nbus = Bus()\nclass (:\n",
        "from .core import Bus, client_of\n\nkept = client_of('a')\nkept = Bus.client()\n",
    ],
    ids=["later", "foreign", "own", "broken", "of a key"],
)
def test_other_calls_do_not_count(text: str, tmp_path: Path) -> None:
    """Those in a function, of something else by that name, or for one key of many."""
    assert levels_in(write(tmp_path, {"other.py": text})) == ALL_HIGH


@pytest.mark.parametrize("folder", ["tests", "test", "testing", "examples"])
def test_what_runs_without_the_package_does_not_count(folder: str, tmp_path: Path) -> None:
    """A test or an example makes one for itself."""
    text = "from app.core import Bus, client\n\nclient()\nbus = Bus()\n"
    assert levels_in(write(tmp_path, {f"{folder}/other.py": text})) == ALL_HIGH


def test_a_package_in_a_folder_of_tests_is_searched_all_the_same(tmp_path: Path) -> None:
    """Only folders inside the package are left out."""
    text = "from .core import client\n\nclient()\n"
    path = write(tmp_path / "examples", {"other.py": text})
    assert levels_in(path) == ALL_HIGH | {"client": Level.MEDIUM}


def test_what_is_reset_is_built_again_later(tmp_path: Path) -> None:
    """When there may be threads."""
    text = "from .core import Bus, client\n\nclient()\nbus = Bus()\n"
    levels = levels_in(write(tmp_path, {"core.py": CORE + RESET, "other.py": text}))
    assert {levels["client"], levels["Bus.__new__"]} == {Level.HIGH}


def test_what_cannot_be_read_makes_nothing(tmp_path: Path) -> None:
    """A folder by the name of a module is no error."""
    path = write(tmp_path, {})
    (path.parent / "folder.py").mkdir()
    assert levels_in(path) == ALL_HIGH


def test_a_file_that_has_changed_is_read_again(tmp_path: Path) -> None:
    """Also in a process that checks again and again."""
    path = write(tmp_path, {"other.py": "from .core import client\n"})
    assert levels_in(path)["client"] is Level.HIGH
    write(tmp_path, {"other.py": "from .core import client\n\nclient()\n"})
    assert levels_in(path)["client"] is Level.MEDIUM


def test_a_file_that_cannot_be_read_calls_nothing(tmp_path: Path) -> None:
    """Such as a link to a file that is gone."""
    path = write(tmp_path, {"other.py": "from .core import client\n\nclient()\n"})
    (path.parent / "gone.py").symlink_to(tmp_path / "nowhere.py")
    assert levels_in(path)["client"] is Level.MEDIUM


def test_what_stands_in_a_text_is_no_call(tmp_path: Path) -> None:
    """Even if the module imports the name, and uses it later."""
    text = '''"""How to use it:

client()
"""
from .core import client

def use():
    return client()
'''
    assert levels_in(write(tmp_path, {"other.py": text})) == ALL_HIGH


def test_a_pipe_in_the_package_keeps_nobody_waiting(tmp_path: Path) -> None:
    """Nobody may ever write into it."""
    path = write(tmp_path, {})
    os.mkfifo(path.parent / "pipe.py")
    check = [sys.executable, "-m", "plugin_utils.checker", "--exit-zero", str(path)]
    run = subprocess.run(check, capture_output=True, text=True, timeout=30, check=True)
    assert "LS001 [high]" in run.stdout


SINGLETONS = """class Singleton(type):
    _made = {}

    def __call__(cls, *args):
        if cls not in cls._made:
            cls._made[cls] = super().__call__(*args)
        return cls._made[cls]


class Other(type):
    pass
"""
PLAIN = """
class Plain(metaclass={metaclass}):
    def name(self):
        return "plain"
"""
STATE = """
class State(metaclass={metaclass}):
    def __init__(self):
        self.client = vendor.Client()
"""


def level_of_metaclass(folder: Path, texts: dict[str, str]) -> Level:
    """Return the level at which a metaclass is reported, used by modules of these texts."""
    write(folder, texts)
    path = folder / "app" / "singletons.py"
    path.write_text(SINGLETONS, encoding="utf-8")
    return levels_in(path)["Singleton.__call__"]


def test_a_metaclass_for_classes_without_state_makes_values(tmp_path: Path) -> None:
    """Wherever in the package they are, and however the metaclass is named there."""
    direct = "from .singletons import Singleton\n" + PLAIN.format(metaclass="Singleton")
    dotted = "from . import singletons\n" + PLAIN.format(metaclass="singletons.Singleton")
    texts = {"direct.py": direct, "inner/__init__.py": "", "dotted.py": dotted}
    assert level_of_metaclass(tmp_path, texts) is Level.INFO


def test_a_metaclass_is_found_under_a_dotted_name_alone(tmp_path: Path) -> None:
    """Nothing else in the package leads to it."""
    text = "from . import singletons\n" + PLAIN.format(metaclass="singletons.Singleton")
    assert level_of_metaclass(tmp_path, {"dotted.py": text}) is Level.INFO


def test_a_metaclass_for_one_class_with_a_state_makes_resources(tmp_path: Path) -> None:
    """The others do not help."""
    head = "import vendor\nfrom .singletons import Singleton\n"
    text = head + PLAIN.format(metaclass="Singleton") + STATE.format(metaclass="Singleton")
    assert level_of_metaclass(tmp_path, {"both.py": text}) is Level.HIGH


@pytest.mark.parametrize(
    "text",
    [
        "",
        "class Singleton(type):\n    pass\n" + PLAIN.format(metaclass="Singleton"),
        "from .singletons import Other as Singleton\n" + PLAIN.format(metaclass="Singleton"),
        "from .elsewhere import Singleton\n" + PLAIN.format(metaclass="Singleton"),
        "from .singletons import Singleton\nclass P(kind=Singleton): # metaclass=Singleton\n  pass",
        "# metaclass=Singleton\nclass Plain(:\n",
        "# metaclass=Singleton\nclass Plain:\n    pass\n",
    ],
    ids=["nobody", "own", "other", "unknown", "keyword", "broken", "comment"],
)
def test_a_metaclass_that_nobody_is_seen_to_use_makes_resources(text: str, tmp_path: Path) -> None:
    """Somebody else may."""
    assert level_of_metaclass(tmp_path, {"user.py": text}) is Level.HIGH


def test_a_metaclass_outside_of_a_package_is_looked_up_in_its_own_file(tmp_path: Path) -> None:
    """There are no other files to search then."""
    path = tmp_path / "singletons.py"
    path.write_text(SINGLETONS + PLAIN.format(metaclass="Singleton"), encoding="utf-8")
    assert levels_in(path)["Singleton.__call__"] is Level.INFO
    path.write_text(SINGLETONS + STATE.format(metaclass="Singleton"), encoding="utf-8")
    assert levels_in(path)["Singleton.__call__"] is Level.HIGH


def test_a_method_that_is_no_call_of_a_metaclass_is_not_looked_up(tmp_path: Path) -> None:
    """`get()` of the same class may be called for anything."""
    text = SINGLETONS.replace("def __call__", "def get") + PLAIN.format(metaclass="Singleton")
    path = tmp_path / "singletons.py"
    path.write_text(text, encoding="utf-8")
    assert levels_in(path)["Singleton.get"] is Level.MEDIUM
