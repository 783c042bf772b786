"""Hypothesis strategies for settings as bad as they can be, with a marker wherever a key may be.

The marker stands in keys, in what an address can carry, in every value of a wrong type, and in
settings that are no names. It never stands alone where a name is meant to be shown: a workspace
that is called like the marker may be logged.
"""

import json
from typing import Any, NamedTuple

from hypothesis import strategies as st

__all__ = ("MARKER", "Settings", "settings")

MARKER = "mark3r-0f-a-k3y"


class Settings(NamedTuple):
    """The files' content and the environment of one case."""

    honcho_json: bytes | None
    config_yaml: bytes | None
    environment: dict[str, str]


# Control characters and lone surrogates included.
_any_text = st.text(st.characters(exclude_categories=()), max_size=8)
_numbers = st.one_of(
    st.integers(),
    st.sampled_from([0, -1, 10**400, 2**63, 1e308, 5e-324]),
    st.floats(),
)
_scalars = st.one_of(st.none(), st.booleans(), _numbers, _any_text, st.just(MARKER))
_containers = st.recursive(
    st.one_of(st.lists(_scalars, max_size=3), st.dictionaries(_any_text, _scalars, max_size=3)),
    lambda inner: st.lists(inner, max_size=2),
    max_leaves=5,
)
_deep = st.integers(1, 300).map(lambda depth: json.loads("[" * depth + f'"{MARKER}"' + "]" * depth))
_odd = st.one_of(_scalars, _containers, _deep)

_names = st.one_of(_any_text, st.none(), _numbers, _containers, st.sampled_from(["w", " w ", "ü"]))
_keys = st.one_of(_odd, _any_text.map(lambda text: MARKER + text), st.just(f" {MARKER}\n"))
_urls = st.one_of(
    _odd,
    st.sampled_from(["http://127.0.0.1:1/v3", "https://h", "http://10.0.0.1", "http://[", "//h"]),
    st.sampled_from(
        [
            f"http://{MARKER}@h",
            f"http://u:{MARKER}@127.0.0.1:1",
            f"http://h?k={MARKER}#{MARKER}",
            f"http://[{MARKER}",
            f"{MARKER}@h:1",
            f"http:\t//{MARKER}@h\x00",
        ]
    ),
)
_limits = st.one_of(_odd, st.sampled_from(["30s", "nan", "inf", "1e999", "9" * 500, "82.5", 7]))
_choices = st.one_of(_odd, st.sampled_from(["local", "production", "staging"]))
_flags = st.one_of(_odd, st.sampled_from(["true", "false", "perhaps"]))

_block: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "apiKey": _keys,
        "baseUrl": _urls,
        "base_url": _urls,
        "timeout": _limits,
        "requestTimeout": _limits,
        "environment": _choices,
        "enabled": _flags,
        "workspace": _names,
        "peerName": _names,
        "aiPeer": _names,
        "unknown": _odd,
    },
)
_hosts = st.dictionaries(
    st.sampled_from(["hermes", "hermes_coder", "hermes.coder", "desk"]),
    st.one_of(_block, _odd),
    max_size=3,
)
_more: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "hosts": st.one_of(_hosts, _odd),
        "endpoint": st.one_of(st.fixed_dictionaries({"baseUrl": _urls}), _odd),
        "defaultHost": _names,
    },
)
_root = st.tuples(_block, _more).map(lambda parts: parts[0] | parts[1])


def _encoded(content: Any, ascii_only: bool, cut: int) -> bytes:  # noqa: ANN401, FBT001 - JSON
    """Return a file's bytes: not UTF-8 where a lone surrogate stands, and cut off now and then."""
    text = json.dumps(content, ensure_ascii=ascii_only)
    return text.encode("utf-8", "surrogatepass")[: cut or None]


_file = st.builds(
    _encoded,
    st.one_of(_root, _root, _odd),
    st.booleans(),
    st.one_of(st.just(0), st.just(0), st.integers(-9, -1)),
)
_yaml = st.one_of(
    _file,
    st.sampled_from(
        [
            f"honcho: {{timeout: !!bool {MARKER}}}",
            f"honcho: {MARKER}: [",
            f"honcho: [{MARKER}\n\t- {MARKER}",
            f"honcho:\n  base_url: http://{MARKER}@10.0.0.1\n  timeout: 2024-13-32",
            f"{MARKER}: \x00",
            f"&a [*a, {MARKER}]",
            "honcho: {timeout: !!python/object/apply:os.abort []}",
            f"!!python/object/apply:os.system ['echo {MARKER}; kill $PPID']",
        ]
    ).map(str.encode),
    _block.map(lambda block: json.dumps({"honcho": block}).encode()),
)
_variable_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
_environment = st.fixed_dictionaries(
    {},
    optional={
        "HONCHO_API_KEY": _variable_text.map(lambda text: MARKER + text),
        "HONCHO_BASE_URL": _variable_text.map(lambda text: f"http://{MARKER}@{text}"),
        "HONCHO_URL": st.sampled_from([f"http://{MARKER}@h", MARKER, "http://127.0.0.1:1"]),
        "HONCHO_TIMEOUT": st.one_of(_variable_text, st.just(MARKER)),
        "HONCHO_ENVIRONMENT": st.sampled_from([MARKER, "local", "production", " "]),
        "HERMES_HONCHO_HOST": st.one_of(_variable_text, st.just("hermes_coder")),
    },
)

settings = st.builds(Settings, st.none() | _file, st.none() | _yaml, _environment)
"""Any case."""
