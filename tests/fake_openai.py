"""A server on this machine that speaks OpenAI's chat completions, and refuses what OpenAI refuses.

    with FakeOpenAi(["list_files", "list_files"]) as api:
        ... OPENAI_BASE_URL=api.url ...
        api.requests          # the bodies that came in

It answers with a call of each tool named, in turn, and then with a text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Json = dict[str, Any]
SAYS = "It ports reports."


@dataclass
class FakeOpenAi:
    """The server; listens from `__enter__` to `__exit__`."""

    tools: list[str]
    requests: list[Json] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    url: str = ""

    def __enter__(self) -> FakeOpenAi:
        handler = type("Handler", (_Handler,), {"api": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    api: FakeOpenAi

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        says = problem(body) if self.path == "/v1/chat/completions" else "not found"
        self.api.requests.append(body)
        if says:
            self.api.refused.append(says)
            self._json(400, {"error": {"message": says, "type": "invalid_request_error"}})
            return
        self._json(200, {"choices": [{"index": 0, "message": self._message(body)}]})

    def _message(self, body: Json) -> Json:
        turn = len(self.api.requests) - 1
        if turn >= len(self.api.tools):
            return {"role": "assistant", "content": SAYS, "refusal": None}
        function = {"name": self.api.tools[turn], "arguments": "{}"}
        call = {"id": f"call_{turn}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "refusal": None, "tool_calls": [call]}

    def _json(self, status: int, value: Json) -> None:
        raw = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


def problem(body: Json) -> str:
    """What the API would say of a request; empty where it would take it."""
    if not body.get("model") or not body.get("messages"):
        return "you must provide a model and messages"
    waiting: list[str] = []
    for index, message in enumerate(body["messages"]):
        role = message.get("role")
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                return (
                    f"messages.[{index}]: messages with role 'tool' must be a response to a "
                    "preceding message with 'tool_calls'."
                )
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            return (
                "An assistant message with 'tool_calls' must be followed by tool messages "
                f"responding to each 'tool_call_id'. Missing: {', '.join(waiting)}"
            )
        if role not in ("system", "developer", "user", "assistant"):
            return f"messages.[{index}].role: {role!r} is not supported"
        calls = message.get("tool_calls")
        if message.get("content") is None and not calls:
            return f"messages.[{index}].content: expected a string or an array of objects"
        waiting = [call["id"] for call in calls or ()]
    return f"missing answers to {', '.join(waiting)}" if waiting else ""
