"""A server on this machine that speaks the Messages API, and refuses what the real one refuses.

    with FakeApi() as api:
        api.answers = [Say("a summary"), Fail(429, retry_after=0), Say("later")]
        ... base_url=api.url, api_key=api.key ...
        api.requests          # the bodies that came in

Answers are taken in turn; the last one stands for all that follow.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

KEY = "sk-ant-test-0000000000000000000000"

Json = dict[str, Any]


@dataclass(frozen=True)
class Say:
    """An answer, streamed in pieces where a stream was asked for."""

    text: str = "fine"
    stop_reason: str = "end_turn"
    tool: str = ""
    """The name of a tool to call, besides or instead of saying something."""
    thinks: bool = False
    """Whether a signed thinking block stands before everything else."""
    stop_details: Json | None = None
    output_tokens: int = 20


@dataclass(frozen=True)
class Fail:
    """An error answer."""

    status: int
    message: str = "no luck"
    kind: str = "api_error"
    retry_after: float | None = None


@dataclass(frozen=True)
class Hang:
    """Nothing at all, or nothing more after `text`, until the server closes."""

    text: str = ""


@dataclass(frozen=True)
class Cut:
    """A stream that ends in the middle."""

    text: str = "half a summ"


@dataclass(frozen=True)
class ErrorInStream:
    """A stream that begins well and then reports an error."""

    kind: str = "overloaded_error"
    message: str = "Overloaded"


Answer = Say | Fail | Hang | Cut | ErrorInStream


@dataclass
class FakeApi:
    """The server; listens from `__enter__` to `__exit__`."""

    answers: list[Answer] = field(default_factory=lambda: [Say()])
    key: str = KEY
    binds_thinking: bool = False
    """Whether it checks, as newer models do, that nothing before a thinking block has changed."""
    most_tokens: int = 200_000
    """A longer prompt, at four bytes a token, is refused as too long."""
    requests: list[Json] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    arrived: Event = field(default_factory=Event)
    """Set when a request has been read."""
    url: str = ""
    _given: int = 0
    _closing: Event = field(default_factory=Event)

    def __enter__(self) -> FakeApi:
        handler = type("Handler", (_Handler,), {"api": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def next_answer(self) -> Answer:
        answer = self.answers[min(self._given, len(self.answers) - 1)]
        self._given += 1
        return answer

    def wait_until_closed(self) -> None:
        self._closing.wait()


class _Handler(BaseHTTPRequestHandler):
    api: FakeApi
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.api.headers.append({name.lower(): value for name, value in self.headers.items()})
        refused = self._refused(raw)
        if refused is not None:
            self.api.arrived.set()
            self._fail(refused)
            return
        body = json.loads(raw)
        self.api.requests.append(body)
        self.api.arrived.set()
        if self.path == "/v1/messages/count_tokens":
            self._count(body)
        else:
            self._answer(body)

    def _refused(self, raw: bytes) -> Fail | None:
        given = self.headers.get("x-api-key") or self.headers.get("authorization", "")[7:]
        if given != self.api.key:
            # The real one does not echo the key; a proxy in between might.
            message = f"invalid x-api-key: {given}"
            return Fail(401, message, "authentication_error")
        if "anthropic-version" not in self.headers:
            return Fail(400, "anthropic-version: header is required", "invalid_request_error")
        if self.path not in ("/v1/messages", "/v1/messages/count_tokens"):
            return Fail(404, "Not found", "not_found_error")
        try:
            body = json.loads(raw)
        except ValueError:
            return Fail(400, "The request body is not valid JSON", "invalid_request_error")
        says = problem(body, counting=self.path.endswith("count_tokens"))
        if says is None and self.api.binds_thinking:
            says = binding_problem(body)
        tokens = size(body)
        if says is None and tokens > self.api.most_tokens:
            says = f"prompt is too long: {tokens} tokens > {self.api.most_tokens} maximum"
        return None if says is None else Fail(400, says, "invalid_request_error")

    def _count(self, body: Json) -> None:
        match self.api.next_answer():
            case Say():
                self._json(200, {"input_tokens": size(body)})
            case Fail() as fail:
                self._fail(fail)
            case _:
                self.api.wait_until_closed()

    def _answer(self, body: Json) -> None:
        answer = self.api.next_answer()
        match answer:
            case Fail():
                self._fail(answer)
            case Hang(text="") | Cut(text=""):
                if isinstance(answer, Hang):
                    self.api.wait_until_closed()
                self.close_connection = True
            case Say() if not body.get("stream"):
                self._json(200, _message(answer, body))
            case _:
                self._stream(answer, body)

    def _fail(self, fail: Fail) -> None:
        error = {"type": fail.kind, "message": fail.message}
        extra = {} if fail.retry_after is None else {"retry-after": str(fail.retry_after)}
        self._json(fail.status, {"type": "error", "error": error}, extra)

    def _json(self, status: int, value: Json, extra: dict[str, str] | None = None) -> None:
        raw = json.dumps(value).encode()
        self.send_response(status)
        for name, text in {
            "content-type": "application/json",
            "content-length": str(len(raw)),
            "request-id": "req_test",
            **(extra or {}),
        }.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(raw)

    def _stream(self, answer: Say | Hang | Cut | ErrorInStream, body: Json) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in _events(answer, body):
            raw = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
            self.wfile.write(f"{len(raw):x}\r\n".encode() + raw + b"\r\n")
            self.wfile.flush()
        match answer:
            case Hang():
                self.api.wait_until_closed()
                self.close_connection = True
            case Cut():
                self.close_connection = True  # without the last chunk
            case _:
                self.wfile.write(b"0\r\n\r\n")


def _message(answer: Say, body: Json) -> Json:
    content: list[Json] = []
    if answer.thinks:
        content.append({"type": "thinking", "thinking": "hm", "signature": _signed(body)})
    if answer.text or not answer.tool:
        content.append({"type": "text", "text": answer.text})
    if answer.tool:
        call = f"toolu_{len(body['messages'])}_{_signed(body)[:8]}"
        content.append({"type": "tool_use", "id": call, "name": answer.tool, "input": {}})
    return {
        "id": "msg_test",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": answer.stop_reason,
        "stop_sequence": None,
        "stop_details": answer.stop_details,
        "usage": {"input_tokens": size(body), "output_tokens": answer.output_tokens},
    }


def _signed(body: Json, before: int | None = None) -> str:
    """What a thinking block is tied to: everything that stands before it."""
    prefix = [body.get("system"), body["messages"][:before]]
    return hashlib.sha256(json.dumps(prefix, sort_keys=True).encode()).hexdigest()


def _events(answer: Say | Hang | Cut | ErrorInStream, body: Json) -> Iterator[Json]:
    said = answer if isinstance(answer, Say) else Say(getattr(answer, "text", ""))
    whole = _message(said, body)
    usage = {**whole["usage"], "output_tokens": 1}
    yield {
        "type": "message_start",
        "message": {**whole, "content": [], "stop_reason": None, "usage": usage},
    }
    yield {"type": "ping"}
    if isinstance(answer, ErrorInStream):
        error = {"type": answer.kind, "message": answer.message}
        yield {"type": "error", "error": error}
        return
    for index, block in enumerate(whole["content"]):
        yield from _block_events(index, block)
        if not isinstance(answer, Say):
            return
        yield {"type": "content_block_stop", "index": index}
    yield {
        "type": "message_delta",
        "delta": {
            "stop_reason": said.stop_reason,
            "stop_sequence": None,
            "stop_details": said.stop_details,
        },
        "usage": {"output_tokens": said.output_tokens},
    }
    yield {"type": "message_stop"}


def _block_events(index: int, block: Json) -> Iterator[Json]:
    if block["type"] == "thinking":
        yield {"type": "content_block_start", "index": index, "content_block": block}
        return
    if block["type"] == "tool_use":
        yield {"type": "content_block_start", "index": index, "content_block": block}
        delta = {"type": "input_json_delta", "partial_json": "{}"}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        return
    start = {"type": "text", "text": ""}
    yield {"type": "content_block_start", "index": index, "content_block": start}
    text = block["text"]
    step = max(len(text) // 3, 1)
    for at in range(0, len(text), step):
        delta = {"type": "text_delta", "text": text[at : at + step]}
        yield {"type": "content_block_delta", "index": index, "delta": delta}


def size(body: Json) -> int:
    """The server's own count of a prompt: a quarter of its JSON's bytes."""
    counted = {name: body[name] for name in ("system", "messages", "tools") if name in body}
    return len(json.dumps(counted, ensure_ascii=False).encode("utf-8", "replace")) // 4


def problem(body: Any, *, counting: bool = False) -> str | None:
    """What the Messages API would say of a request; None where it would take it.

    The sentences are the API's own, as people quote them in their reports.
    """
    if not isinstance(body, dict):
        return "Input should be a valid dictionary"
    if not isinstance(body.get("model"), str) or not body["model"]:
        return "model: Field required"
    most = body.get("max_tokens")
    if not counting and (not isinstance(most, int) or most < 1):
        return "max_tokens: Field required"
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return "messages: at least one message is required"
    says = _system_problem(body.get("system"))
    for index, message in enumerate(messages):
        says = says or _message_problem(index, message)
    return says or _pair_problem(messages) or _last_problem(messages[-1])


def binding_problem(body: Json) -> str | None:
    """What newer models say of a thinking block when something before it is not as it was.

    Only blocks that this server signed pass.
    """
    for index, message in enumerate(body["messages"]):
        blocks = message["content"] if isinstance(message["content"], list) else []
        for at, block in enumerate(blocks):
            if block["type"] == "thinking" and block["signature"] != _signed(body, index):
                return (
                    f"messages.{index}.content.{at}: Invalid `signature` in `thinking` block. "
                    "The block is bound to a different conversation."
                )
    return None


def _system_problem(system: Any) -> str | None:
    if system is None or system == "":
        return None
    blocks = [{"type": "text", "text": system}] if isinstance(system, str) else system
    return _texts_problem("system", blocks)


def _texts_problem(where: str, blocks: list[Json]) -> str | None:
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    if any(not isinstance(text, str) or text == "" for text in texts):
        return f"{where}: text content blocks must be non-empty"
    if blocks and len(texts) == len(blocks) and not any(text.strip() for text in texts):
        return f"{where}: text content blocks must contain non-whitespace text"
    return None


BLOCKS = {
    "user": {"text", "image", "document", "tool_result", "search_result", "container_upload"},
    "assistant": {
        "text",
        "thinking",
        "redacted_thinking",
        "tool_use",
        "server_tool_use",
        "web_search_tool_result",
    },
    "system": {"text"},
}


def _message_problem(index: int, message: Any) -> str | None:
    where = f"messages.{index}"
    if not isinstance(message, dict) or message.get("role") not in BLOCKS:
        return f"{where}.role: Input should be 'user', 'assistant' or 'system'"
    role, content = message["role"], message.get("content")
    unknown = set(message) - {"role", "content"}
    if unknown:
        return f"{where}.{min(unknown)}: Extra inputs are not permitted"
    if not isinstance(content, str | list):
        return f"{where}.content: Field required"
    if not content:
        empty = "user messages must have non-empty content"
        return f"{where}: {empty}" if role == "user" else None
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for at, block in enumerate(blocks):
        if block.get("type") not in BLOCKS[role]:
            return f"{where}.content.{at}: Input tag {block.get('type')!r} does not match"
        says = _block_problem(f"{where}.content.{at}", block)
        if says:
            return says
    return _texts_problem("messages", blocks)


REQUIRED = {
    "tool_use": ("id", "name", "input"),
    "tool_result": ("tool_use_id",),
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
    "image": ("source",),
    "document": ("source",),
}


def _block_problem(where: str, block: Json) -> str | None:
    for name in REQUIRED.get(block["type"], ()):
        if name not in block:
            return f"{where}.{block['type']}.{name}: Field required"
    if block["type"] == "tool_use" and not isinstance(block["input"], dict):
        return f"{where}.tool_use.input: Input should be a valid dictionary"
    if block["type"] == "thinking" and not block["signature"]:
        return f"{where}: Invalid `signature` in `thinking` block"
    return None


def _pair_problem(messages: list[Json]) -> str | None:
    """The pairing rule, by position: after n calls the next message begins with their n results."""
    waiting: list[str] = []
    for index, message in enumerate(messages):
        content = message["content"]
        blocks: list[Json] = [] if isinstance(content, str) else content
        results = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        leading = blocks[: len(results)]
        stray = [call for call in results if call not in waiting]
        if stray:
            return (
                f"messages.{index}.content: unexpected `tool_use_id` found in `tool_result` "
                f"blocks: {stray[0]}. Each `tool_result` block must have a corresponding "
                "`tool_use` block in the previous message."
            )
        if len(set(results)) != len(results):
            return (
                f"messages.{index}: each tool_use must have a single result. Found multiple "
                f"`tool_result` blocks with id: {results[0]}"
            )
        missing = [call for call in waiting if call not in results]
        if missing or any(b["type"] != "tool_result" for b in leading):
            return (
                f"messages.{index - 1}: `tool_use` ids were found without `tool_result` blocks "
                f"immediately after: {', '.join(missing or waiting)}. Each `tool_use` block must "
                "have a corresponding `tool_result` block in the next message."
            )
        waiting = [b["id"] for b in blocks if b["type"] == "tool_use"]
        if len(set(waiting)) != len(waiting):
            return f"messages.{index}: `tool_use` ids must be unique"
    if waiting:
        return (
            f"messages.{len(messages) - 1}: `tool_use` ids were found without `tool_result` "
            f"blocks immediately after: {', '.join(waiting)}."
        )
    return None


def _last_problem(message: Json) -> str | None:
    content = message["content"]
    if message["role"] != "assistant" or not content:
        return None
    text = content if isinstance(content, str) else content[-1].get("text", "")
    if text != text.rstrip():
        return "messages: final assistant content cannot end with trailing whitespace"
    return None
