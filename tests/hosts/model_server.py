"""Stands in for the language model: an OpenAI-compatible server on 127.0.0.1 with one idea."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self, cast

__all__ = ("ModelServer",)


class ModelServer:
    """A model that saves whatever the user tells it as a note, and then is done.

    Attributes:
        told: What users have told it.
    """

    def __init__(self) -> None:
        self.told: list[str] = []
        self._http = _Http(self)
        self._thread = Thread(target=self._http.serve_forever, args=(0.01,), name="model server")

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(10)

    def say_next(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the message that follows these."""
        last = messages[-1]
        if last["role"] != "user":
            return {"role": "assistant", "content": "done"}
        self.told.append(last["content"])
        function = {"name": "note_add", "arguments": json.dumps({"text": last["content"]})}
        call = {"index": 0, "id": "call_1", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}


class _Http(ThreadingHTTPServer):
    request_queue_size = 64

    def __init__(self, owner: ModelServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.owner = owner


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Name the one model there is."""
        model = {"id": "stand-in", "object": "model", "context_length": 200_000}
        self._send("application/json", json.dumps({"object": "list", "data": [model]}))

    def do_POST(self) -> None:
        """Answer a chat as a stream, which is how Hermes asks; refuse anything else."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.path.endswith("/chat/completions"):
            self.send_error(404)
            return
        assert asked["stream"], "Hermes has asked for an answer in one piece"
        message = cast("_Http", self.server).owner.say_next(asked["messages"])
        reason = "tool_calls" if "tool_calls" in message else "stop"
        events = [_event(message, None), _event({}, reason), "[DONE]"]
        self._send("text/event-stream", "".join(f"data: {event}\n\n" for event in events))

    def _send(self, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Stay silent: Hermes asks for several things that only other servers have."""


def _event(delta: dict[str, Any], finish_reason: str | None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    head = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "stand-in"}
    return json.dumps({**head, "choices": [choice]})
