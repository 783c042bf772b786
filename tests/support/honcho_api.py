"""The part of the Honcho v3 API that the SDK's everyday calls use, without a network.

It keeps what it is told in memory, and answers as a real server of version 3.0 was seen to
answer: tests/honcho/test_server.py compares the two.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any

__all__ = ("Answer", "HonchoApi")

Json = dict[str, Any]
Answer = tuple[int, Any]
"""A status and a body."""

_ID = r"[a-zA-Z0-9_-]+"
_FILTERS = frozenset({"peer_id"})  # of those that the real server knows, what our callers use


@dataclass
class _Session:
    record: Json
    messages: list[Json] = field(default_factory=list)


@dataclass
class _Workspace:
    record: Json
    peers: dict[str, Json] = field(default_factory=dict)
    sessions: dict[str, _Session] = field(default_factory=dict)


class HonchoApi:
    """Answers one request at a time; the caller sees to that."""

    def __init__(self) -> None:
        self.workspaces: dict[str, _Workspace] = {}
        self._message_ids = (f"message-{number}" for number in count(1))
        root = "/v3/workspaces"
        one = f"{root}/(?P<workspace>{_ID})"
        peer = f"{one}/peers/(?P<peer>{_ID})"
        session = f"{one}/sessions/(?P<session>{_ID})"
        self._routes: list[tuple[str, str, Callable[..., Answer]]] = [
            ("POST", root, self._post_workspace),
            ("PUT", one, self._put_workspace),
            ("POST", f"{one}/peers", self._post_peer),
            ("PUT", peer, self._put_peer),
            ("POST", f"{one}/sessions", self._post_session),
            ("PUT", session, self._put_session),
            ("POST", f"{session}/messages", self._post_messages),
            ("POST", f"{session}/messages/list", self._list_messages),
            ("GET", f"{session}/messages/(?P<message>{_ID})", self._get_message),
        ]

    def answer(self, method: str, path: str, query: Mapping[str, str], body: Any) -> Answer:  # noqa: ANN401 - JSON
        """Return the answer to a request."""
        known_path = False
        for verb, pattern, handler in self._routes:
            match = re.fullmatch(pattern, path)
            if match and verb == method:
                return handler(query=query, body=body or {}, **match.groupdict())
            known_path = known_path or match is not None
        return (405, _detail("Method Not Allowed")) if known_path else (404, _detail("Not Found"))

    def _post_workspace(self, body: Json, **_: object) -> Answer:
        return _valid(body) or _created(
            body["id"] not in self.workspaces, self._workspace(body["id"], body).record
        )

    def _put_workspace(self, workspace: str, body: Json, **_: object) -> Answer:
        return _replaced(self._workspace(workspace).record, body)

    def _post_peer(self, workspace: str, body: Json, **_: object) -> Answer:
        new = body.get("id") not in self._workspace(workspace).peers
        return _valid(body) or _created(new, self._peer(workspace, body["id"], body))

    def _put_peer(self, workspace: str, peer: str, body: Json, **_: object) -> Answer:
        return _replaced(self._peer(workspace, peer), body)

    def _post_session(self, workspace: str, body: Json, **_: object) -> Answer:
        new = body.get("id") not in self._workspace(workspace).sessions
        return _valid(body) or _created(new, self._session(workspace, body["id"], body).record)

    def _put_session(self, workspace: str, session: str, body: Json, **_: object) -> Answer:
        return _replaced(self._session(workspace, session).record, body)

    def _post_messages(self, workspace: str, session: str, body: Json, **_: object) -> Answer:
        if not body["messages"]:
            text = "List should have at least 1 item after validation, not 0"
            limits = {"field_type": "List", "min_length": 1, "actual_length": 0}
            return _invalid("too_short", ["body", "messages"], text, [], limits)
        added = [self._message(workspace, session, each) for each in body["messages"]]
        self._session(workspace, session).messages += added
        return 201, added

    def _list_messages(
        self, workspace: str, session: str, query: Mapping[str, str], body: Json
    ) -> Answer:
        filters: Json = body.get("filters") or {}
        unknown = sorted(filters.keys() - _FILTERS)
        if unknown:
            return 422, _detail(f"messages cannot be filtered by {unknown[0]}")
        known = self.workspaces.get(workspace)
        found = known.sessions.get(session) if known else None
        messages = [
            each
            for each in (found.messages if found else [])
            if all(each[name] == wanted for name, wanted in filters.items())
        ]
        if query.get("reverse") == "true":
            messages.reverse()
        return _page(messages, query)

    def _get_message(self, workspace: str, session: str, message: str, **_: object) -> Answer:
        for each in self._session(workspace, session).messages:
            if each["id"] == message:
                return 200, each
        return 404, _detail(f"no message {message} in session {session}")

    # Writes create what is missing.

    def _workspace(self, name: str, given: Json | None = None) -> _Workspace:
        if name not in self.workspaces:
            self.workspaces[name] = _Workspace(_record(name, given))
        return self.workspaces[name]

    def _peer(self, workspace: str, name: str, given: Json | None = None) -> Json:
        record = _record(name, given) | {"workspace_id": workspace}
        return self._workspace(workspace).peers.setdefault(name, record)

    def _session(self, workspace: str, name: str, given: Json | None = None) -> _Session:
        record = _record(name, given) | {"workspace_id": workspace, "is_active": True}
        return self._workspace(workspace).sessions.setdefault(name, _Session(record))

    def _message(self, workspace: str, session: str, given: Json) -> Json:
        self._peer(workspace, given["peer_id"])
        return {
            "id": next(self._message_ids),
            "content": given["content"],
            "peer_id": given["peer_id"],
            "session_id": session,
            "workspace_id": workspace,
            "metadata": given.get("metadata") or {},
            "created_at": _now(),
            "token_count": len(given["content"].split()),
        }


def _record(name: str, given: Json | None) -> Json:
    given = given or {}
    return {
        "id": name,
        "metadata": given.get("metadata") or {},
        "configuration": given.get("configuration") or {},
        "created_at": _now(),
    }


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _created(new: bool, record: Json) -> Answer:  # noqa: FBT001 - the status is all it decides
    return 201 if new else 200, record


def _replaced(record: Json, body: Json) -> Answer:
    record.update({name: body[name] for name in ("metadata", "configuration") if name in body})
    return 200, record


def _page(items: list[Json], query: Mapping[str, str]) -> Answer:
    number, size = int(query.get("page", "1")), int(query.get("size", "50"))
    if size > 100:
        text = "Input should be less than or equal to 100"
        return _invalid("less_than_equal", ["query", "size"], text, str(size), {"le": 100})
    return 200, {
        "items": items[(number - 1) * size : number * size],
        "total": len(items),
        "page": number,
        "size": size,
        "pages": -(-len(items) // size),
    }


def _valid(body: Json) -> Answer | None:
    """Return the refusal of a body whose id is not one."""
    name = body.get("id")
    if isinstance(name, str) and re.fullmatch(_ID, name):
        return None
    pattern = f"^{_ID}$"
    text = f"String should match pattern '{pattern}'"
    return _invalid("string_pattern_mismatch", ["body", "id"], text, name, {"pattern": pattern})


def _invalid(kind: str, place: list[str], text: str, given: object, limits: Json) -> Answer:
    return 422, _detail([{"type": kind, "loc": place, "msg": text, "input": given, "ctx": limits}])


def _detail(detail: object) -> Json:
    return {"detail": detail}
