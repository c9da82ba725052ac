"""A message as bytes: what its hash is made of, and how it is kept once however often seen."""

from __future__ import annotations

import json
import zlib
from hashlib import blake2b

from compaction.messages import Message, ToolCall

HASH_BYTES = 16

_SMALL = 200
"""Bytes. Less than this does not get smaller."""


def body_of(message: Message) -> bytes:
    """Everything a message says, as one JSON list; equal messages have equal bodies."""
    calls = [[call.id, call.name, call.arguments] for call in message.tool_calls]
    parts = [message.role, message.content, calls, message.tool_call_id]
    # Bytes that were not UTF-8 stand in the text as lone surrogates; they must come back as such.
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def hash_of(body: bytes) -> bytes:
    """The identity of a content: 16 bytes of BLAKE2b."""
    return blake2b(body, digest_size=HASH_BYTES).digest()


def packed(body: bytes) -> bytes:
    """`body` as it is stored: compressed where that helps."""
    if len(body) < _SMALL:
        return body
    smaller = zlib.compress(body, 1)
    return smaller if len(smaller) < len(body) else body


def message_of(stored: bytes) -> Message:
    """The message whose packed body is `stored`.

    Raises ValueError when the bytes are damaged.
    """
    try:
        # A body begins with a bracket, a compressed one with zlib's own first byte.
        body = stored if stored[:1] == b"[" else zlib.decompress(stored)
    except zlib.error as error:
        raise ValueError(f"a kept message is damaged: {error}") from error
    role, content, calls, tool_call_id = json.loads(body.decode("utf-8", "surrogatepass"))
    return Message(role, content, tuple(ToolCall(*call) for call in calls), tool_call_id)
