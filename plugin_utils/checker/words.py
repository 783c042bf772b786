"""The words by which programmers name what they build: things with an identity, and mere values.

A checker that never imports cannot see what `create_engine()` returns, but the name tells. The
sets were drawn up from the vocabulary of client libraries, not from any one of the files the
checker is measured on.
"""

from __future__ import annotations

import re

__all__ = (
    "holds_resource",
    "is_class_name",
    "is_open",
    "is_resource",
    "is_value",
    "looks_like_lock",
    "looks_per_thread",
    "looks_unset",
    "words_of",
)

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LOCKS = frozenset(
    "lock locks rlock flock mutex mu guard gate sem semaphore cond condition cv".split()
)
_UNSET = re.compile(
    r"(?:^|_)(?:unset|missing|sentinel|undefined|not_?set|empty|no_?value)$", re.IGNORECASE
)

# Owns something outside the process's memory, or state of its own: two of them are one too many.
_RESOURCES = frozenset("""
    adapter agent backend bot bridge broker browser bus camera channel client collector conn
    connection connector connections consumer container context controller conversation crawler
    cursor daemon database datastore db device dispatcher display driver embedder embeddings
    emitter engine environment executor exporter gateway handle handler heartbeat hub index
    instance instrumentor interface interpreter kernel listener llm loop mailbox manager masker
    memory meter model monitor network node observer orchestrator pipeline pipe plugin poller
    pool pools printer process processor producer profiler proxy publisher queue reader recorder
    redis registry reporter repo repository router runner runtime sandbox scheduler sender server
    service session sessions sink socket spawner speaker store stream subscriber supervisor
    synthesizer system telemetry thread tracer tracker transcriber transport tunnel
    vectorstore voice watcher watchdog webdriver whisper worker workers writer zookeeper app
    application subprocess auth subscription instrumentation spider classifier
    """.split())  # fmt: skip

# Of these, the ones that hold something open, run by themselves, or fill the memory.
_OPEN = frozenset("""
    browser channel classifier client conn connection connector cursor database db device driver
    engine executor kernel llm mailbox manager model pipe pipeline poller pool
    producer consumer publisher server session socket subprocess thread transport tunnel
    voice watcher webdriver worker
    """.split())  # fmt: skip

# Equal however often it is computed: doing it twice costs time, nothing more.
_VALUES = frozenset("""
    address addresses alias aliases annotations args array attribute attributes base blob body
    buffer bytes cache caches calendar capabilities capability catalog category certificate
    choices class classes code codes color column columns command commands config configs
    configuration content count counter credentials data date datetime default defaults
    definition definitions deque description details dict dimension dir directory directories
    document documents encoding entries entry enum env error errors event expression features
    field fields file filename files flag flags font format formats formatter frozenset function
    functions graph hash header headers help home hook hooks host icon id ids info installed int
    ip items json key keys kwargs label labels language languages layout length level limit
    limits line lines link links list locale location logger logo lookup manifest map mapping
    mask matrix message messages metadata method methods mode models module modules name names
    namespace number offset option options order output package packages params parameters
    parts password path paths pattern patterns permissions platform policies policy port prefix
    prefs preferences profile profiles prompt prompts properties property providers query range
    rate reason record records ref regex region report resolution response result results role
    roles root row rows rule rules schema schemas scope scopes score secret secrets section set
    settings shape sign signature size snapshot source spec specs state stats status str string
    strings styles suffix support table tables tag tags template templates test text theme time
    timeout timestamp timezone token tokens tree tuple type types tz tzinfo uri url urls user
    username users value values variable variables vendor version versions view weight weights
    width words workspace year zone zoneinfo adapter_type parser encoder decoder serializer
    deserializer validator lexer formatter converter analyser analyzer codec comparator
    hasher helper inspector mapper normalizer propagator splitter strategy translation translations
    translator visitor wrapper const constant constants consts fernet
    """.split())  # fmt: skip

# A cache of these is more than memory.
_OUTSIDE = frozenset("artifact blob disk file".split())

_FETCHES = frozenset("""
    calculate check collect compute convert count decode detect determine diff discover encode
    estimate evaluate extract fetch filter find format has hash infer inspect is list locate
    lookup match merge normalize parse ping probe query read render request require resolve
    retrieve scan search select serialize slurp sort split which fromkeys copy deepcopy getattr
    getenv join strip replace lower upper
    """.split())  # fmt: skip

# What a slot's name may end in after the noun: `_client_cache`, `_engine_singleton`.
_HOLDERS = frozenset("cache cached dict instance map obj object ref singleton table".split())

_BUILDS = frozenset("""
    boot bootstrap build connect construct create launch instantiate make new open spawn start
    """.split())  # fmt: skip


def words_of(name: str) -> list[str]:
    """Split an identifier into lower-case words: `_httpClient` gives `["http", "client"]`."""
    return [word.lower() for word in _WORD.findall(name)]


def is_resource(name: str) -> bool:
    """Tell whether `name` names a thing with an identity: a client, a pool, a model."""
    words = words_of(name)
    if not words or words[0] in _FETCHES or "current" in words:
        return False
    return words[-1] in _RESOURCES or (words[0] in _BUILDS and words[-1] not in _VALUES)


def holds_resource(name: str) -> bool:
    """Tell whether the variable `name` is spelt like the slot of a resource."""
    words = [word for word in words_of(name) if not word.isdigit()]
    while len(words) > 1 and words[-1] in _HOLDERS:
        words.pop()
    if not words or words[-1] in _VALUES:
        return False
    return not _RESOURCES.isdisjoint({words[-1], words[-1].removesuffix("s")})


def is_open(name: str) -> bool:
    """Tell whether `name` names a thing that is more than memory: a connection, a model."""
    words = [word for word in words_of(name) if word not in _HOLDERS and not word.isdigit()]
    if words[:1] in (["connect"], ["open"]):
        return True
    return bool(words) and not _OPEN.isdisjoint({words[-1], words[-1].removesuffix("s")})


def is_value(name: str) -> bool:
    """Tell whether `name` names something that is equal however often it is computed."""
    words = words_of(name)
    if not words or words[0] == "from" or _is_store(name, words):
        return False
    return words[0] in _FETCHES or words[-1] in _VALUES


def _is_store(name: str, words: list[str]) -> bool:
    """Tell whether `name` is a class of caches that keep more than memory: `FileCache`."""
    kept = _RESOURCES | _OUTSIDE
    return is_class_name(name) and words[-1] == "cache" and not kept.isdisjoint(words)


def is_class_name(name: str) -> bool:
    """Tell whether `name` is spelt like a class: `_Engine`, but not `MAX` or `client`."""
    bare = name.lstrip("_")
    return bare[:1].isupper() and not bare.isupper()


def looks_like_lock(name: str) -> bool:
    """Tell whether the last part of a dotted name is spelt like a lock: `self._db_mutex`."""
    return not _LOCKS.isdisjoint(words_of(name.rpartition(".")[2]))


def looks_per_thread(name: str) -> bool:
    """Tell whether `name` says that every thread finds another value there: `_thread_local`."""
    return "threadlocal" in "".join(words_of(name))


def looks_unset(name: str) -> bool:
    """Tell whether `name` is spelt like the marker of an empty slot."""
    return bool(_UNSET.search(name.rpartition(".")[2]))
