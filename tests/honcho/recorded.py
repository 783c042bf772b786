"""Exchanges with a real Honcho server 3.0.12, in the order in which they were recorded.

An answer is kept as its shape: each scalar replaced by the name of its type, each list by its first
element. Workspace `w` did not exist before.
"""

from typing import Any, NamedTuple

__all__ = ("RECORDED", "Exchange")


class Exchange(NamedTuple):
    """One request, and what came back."""

    request: str
    sent: object
    status: int
    shape: object


WORKSPACE: dict[str, Any] = {
    "id": "str",
    "metadata": {},
    "configuration": {},
    "created_at": "str",
}
PEER = WORKSPACE | {"workspace_id": "str"}
SESSION = PEER | {"is_active": "bool"}
MESSAGE: dict[str, Any] = {
    "id": "str",
    "content": "str",
    "peer_id": "str",
    "session_id": "str",
    "workspace_id": "str",
    "metadata": {},
    "created_at": "str",
    "token_count": "int",
}
TAGGED = MESSAGE | {"metadata": {"k": "int"}}
TOLD: dict[str, Any] = {"metadata": {"a": "int"}}
REASON = {"detail": "str"}


def page_of(message: object) -> dict[str, object]:
    """Return the shape of a page of messages."""
    return {"items": [message], "total": "int", "page": "int", "size": "int", "pages": "int"}


def refusal(given: object, **limits: str) -> dict[str, object]:
    """Return the shape of an answer to a request that does not validate."""
    error = {"type": "str", "loc": ["str"], "msg": "str", "input": given, "ctx": limits}
    return {"detail": [error]}


ROOT = "/v3/workspaces"
PEERS = f"{ROOT}/w/peers"
SESSIONS = f"{ROOT}/w/sessions"
MESSAGES = f"{SESSIONS}/s1/messages"

RECORDED = [
    Exchange(f"POST {ROOT}", {"id": "w"}, 201, WORKSPACE),
    Exchange(f"POST {PEERS}", {"id": "alice"}, 201, PEER),
    Exchange(f"POST {PEERS}", {"id": "alice"}, 200, PEER),
    Exchange(f"POST {SESSIONS}", {"id": "s1"}, 201, SESSION),
    Exchange(f"POST {SESSIONS}", {"id": "s1"}, 200, SESSION),
    Exchange(
        f"POST {MESSAGES}",
        {
            "messages": [
                {"content": "m1", "peer_id": "alice", "metadata": {"k": 1}},
                {"content": "m2", "peer_id": "alice"},
            ]
        },
        201,
        [TAGGED],
    ),
    Exchange(f"POST {MESSAGES}/list?page=1&size=50", None, 200, page_of(TAGGED)),
    Exchange(f"POST {MESSAGES}/list?page=1&size=1", None, 200, page_of(TAGGED)),
    Exchange(f"POST {MESSAGES}/list?page=2&size=1", None, 200, page_of(MESSAGE)),
    Exchange(
        f"POST {MESSAGES}/list?page=1&size=50&reverse=true",
        {"filters": {"peer_id": "alice"}},
        200,
        page_of(MESSAGE),
    ),
    Exchange(f"POST {ROOT}", {"id": "w"}, 200, WORKSPACE),
    Exchange(f"PUT {ROOT}/w", {"metadata": {"a": 1}}, 200, WORKSPACE | TOLD),
    Exchange(f"POST {SESSIONS}", {"id": "s1"}, 200, SESSION),
    Exchange(f"PUT {SESSIONS}/s1", {"metadata": {"a": 1}}, 200, SESSION | TOLD),
    Exchange(f"POST {PEERS}", {"id": "a b"}, 422, refusal("str", pattern="str")),
    Exchange(
        f"POST {MESSAGES}",
        {"messages": []},
        422,
        refusal([], field_type="str", min_length="int", actual_length="int"),
    ),
    Exchange(f"GET {MESSAGES}/none", None, 404, REASON),
    Exchange("GET /v3/none", None, 404, REASON),
    Exchange(f"GET {ROOT}", None, 405, REASON),
    Exchange(f"POST {MESSAGES}/list?page=1&size=101", None, 422, refusal("str", le="int")),
    Exchange(f"POST {MESSAGES}/list?page=1&size=50", {"filters": {"nope": 1}}, 422, REASON),
]
