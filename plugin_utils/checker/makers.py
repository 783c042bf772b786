"""What a callable makes, as far as its name tells; nothing is looked up.

Two of a thing with an identity are one too many: the loser's connection leaks, its registrations
are lost. Two equal values only cost the time of computing one of them.
"""

from __future__ import annotations

import ast
from enum import IntEnum

from plugin_utils.checker.module import Module
from plugin_utils.checker.syntax import LOCK_TYPES, dotted, last_name
from plugin_utils.checker.words import is_class_name, is_resource, is_value, words_of

__all__ = (
    "Makes",
    "class_method",
    "is_of_a_loop",
    "is_unique",
    "kind_of",
    "known",
    "named",
    "starts",
)

_LOOPS = frozenset({"asyncio", "anyio", "trio"})
_OF_A_LOOP = LOCK_TYPES | {"Barrier", "Event", "LifoQueue", "PriorityQueue", "Queue"}
# Hands out what somebody else keeps; whether that is built once is their affair.
_LOOKUPS = frozenset(
    {
        "get",
        "get_instance",
        "getInstance",
        "getLogger",
        "get_meter",
        "get_tracer",
        "getOrCreate",
        "instance",
        "__subclasses__",
    }
)
# Reads settings and certificates; two serve alike.
_SETTINGS = frozenset({"SSLContext", "create_default_context"})
# Makes a class; two of one form serve alike.
_CLASS_MAKERS = frozenset({"create_model", "make_dataclass", "namedtuple", "new_class", "type"})
# Its name ends like that of a resource; it holds nothing but a schema.
_PLAIN_CLASSES = frozenset({"TypeAdapter"})
# How a variable that holds a class or a factory is called, after what it makes.
_KINDS = frozenset("builder class cls constructor creator factory maker type".split())
# Memos of what Python keeps anyway, and tasks, which are made on the one thread of their loop.
_MEMOS = frozenset({"compile", "import_module", "__import__", "create_task", "ensure_future"})
_STARTING = (["start"], ["spawn"], ["launch"])
# No two calls give the same: callers who get one each disagree for ever.
_UNIQUE = frozenset("""
    NamedTemporaryFile SpooledTemporaryFile SystemRandom TemporaryDirectory TemporaryFile
    getrandbits mkdtemp mkstemp token_bytes token_hex token_urlsafe urandom uuid1 uuid4 uuid7
    """.split())  # fmt: skip
# Of these, two are as good as one, whatever they are called like: they hold nothing but settings,
# or look up what the process has.
_HARMLESS = frozenset("""
    csv.DictReader inflect.engine jinja2.Environment jinja2.Template json.load json.loads
    jinja2.sandbox.SandboxedEnvironment orjson.loads pickle.load pickle.loads psutil.Process
    threadpoolctl.ThreadpoolController toml.load toml.loads tomli.load tomli.loads tomllib.load
    tomllib.loads torch.device yaml.load yaml.safe_load
    """.split())  # fmt: skip
# Threads that hold one each never meet.
_MEETINGS = frozenset({"threading.Barrier", "threading.Event"})
# Whoever is in the one that is lost is not found again, and nothing computes it anew.
_REGISTRIES = frozenset({"WeakKeyDictionary", "WeakSet", "WeakValueDictionary"})


class Makes(IntEnum):
    """What is made, ordered by how much a second one costs."""

    NOTHING = 0
    """`None` or a marker: the slot is emptied."""
    FLAG = 1
    """A constant, or a memo of what Python itself keeps: nothing is built."""
    VALUE = 2
    """Equal however often it is computed."""
    UNKNOWN = 3
    """The name does not tell."""
    RESOURCE = 4
    """Has an identity: a client, a pool, a model."""
    LOCK = 5
    """A lock; two locks exclude nobody."""


_MADE_BY = {
    **dict.fromkeys(_MEMOS, Makes.FLAG),
    **dict.fromkeys(LOCK_TYPES, Makes.LOCK),
    **dict.fromkeys(_REGISTRIES, Makes.RESOURCE),
    **dict.fromkeys(_LOOKUPS | _SETTINGS | _CLASS_MAKERS, Makes.VALUE),
}
"""What is made by some callables, wherever they come from."""


def named(name: str, unknown: Makes = Makes.UNKNOWN) -> Makes:
    """Return what a callable makes that is known by its name only."""
    if is_class_name(name):
        return Makes.VALUE if is_value(name) or name in _PLAIN_CLASSES else Makes.RESOURCE
    if is_resource(name):
        return Makes.RESOURCE
    return Makes.VALUE if is_value(name) else unknown


def known(func: ast.expr, module: Module) -> Makes | None:
    """Return what is made by a callable that is known, wherever it comes from."""
    if is_of_a_loop(func, module):
        return Makes.FLAG
    full = _full_name(func, module)
    if full in _HARMLESS:
        return Makes.VALUE
    if _is_shared_by_processes(func, module) or full in _MEETINGS:
        return Makes.RESOURCE
    return _MADE_BY.get(last_name(func))


def is_of_a_loop(func: ast.expr, module: Module) -> bool:
    """Tell whether a lock or an event is one for the tasks of a loop, which are in one thread."""
    name = dotted(func)
    if last_name(func) not in _OF_A_LOOP:
        return False
    return module.imports.get(name.partition(".")[0], name).partition(".")[0] in _LOOPS


def _is_shared_by_processes(func: ast.expr, module: Module) -> bool:
    """Tell whether something of `multiprocessing` is made, which other processes see, too."""
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Call):
        func = func.value.func  # `Manager().dict()` lives in the manager's process
    full = _full_name(func, module)
    return full.startswith("multiprocessing.") and is_class_name(last_name(func))


def _full_name(func: ast.expr, module: Module) -> str:
    """Return the name of what is called, from the package that it is imported from."""
    first, dot, rest = dotted(func).partition(".")
    return module.imports.get(first, "") + dot + rest


def class_method(owner: str, name: str) -> Makes:
    """Return what the method `name` of a class makes: `Client.from_url()`."""
    if is_value(owner):
        return Makes.VALUE
    if words_of(name)[:1] == ["from"]:
        return named(owner)
    return named(name, Makes.RESOURCE if is_resource(owner) else Makes.UNKNOWN)


def kind_of(variable: str) -> list[str]:
    """Return what a class or factory in a variable makes, if its name says that it is one."""
    *kind, last = words_of(variable) or [""]
    return kind if last in _KINDS else []


def starts(value: ast.expr) -> bool:
    """Tell whether `value` runs as soon as it is made, by its name: `start_http_server(8000)`."""
    return isinstance(value, ast.Call) and words_of(last_name(value.func))[:1] in _STARTING


def is_unique(value: ast.expr) -> bool:
    """Tell whether `value` is drawn at random, in whatever form: `str(uuid4())`, `uuid4().hex`."""
    match value:
        case ast.Call(func=func, args=args):
            return last_name(func) in _UNIQUE or any(map(is_unique, [func, *args]))
        case ast.Attribute(value=inner) | ast.Subscript(value=inner):
            return is_unique(inner)
        case ast.FormattedValue(value=inner):
            return is_unique(inner)
        case ast.JoinedStr(values=values):
            return any(map(is_unique, values))
        case ast.BinOp(left=left, right=right):
            return is_unique(left) or is_unique(right)
        case _:
            return False
