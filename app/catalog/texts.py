"""The texts that can be searched: what each is taken from, and how it is got back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from app.catalog.contents import message_of
from app.errors import SourceError
from app.sources.tool_results import read_page
from compaction.messages import Message
from compaction.records import CompactionRecord
from compaction.summary import COMPACTION_MARKER, ONE_SHOT_MARKER
from compaction.utf8 import byte_length, decoded

PAGE = 64 * 1024
"""Bytes of a file that are one text."""
OVERLAP = 512
"""Bytes that a file's text has in common with the next, so that no word is cut in two."""


class Kind(StrEnum):
    """Where a text comes from."""

    MESSAGE = "message"
    CALL = "call"
    SUMMARY = "summary"
    ANCHOR = "anchor"
    ERROR = "error"
    OFFLOAD = "offload"
    PLAN = "plan"


class Role(StrEnum):
    """Who speaks in it; empty for what nobody said."""

    HUMAN = "human"
    ASSISTANT = "assistant"
    TOOL = "tool"
    COMPACTION = "compaction"
    SYSTEM = "system"
    OTHER = "other"
    NONE = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One text, as the index lists it."""

    kind: Kind
    part: int
    """Which text of its owner: for a call its place from 1, for a file the page from 0."""
    size: int
    """Bytes, about."""
    role: Role = Role.NONE
    tool: str = ""
    """The tool's name, where it is known from the message itself."""
    call: str = ""
    """The id of the call that it makes or answers."""


def role_of(message: Message) -> Role:
    """Who speaks: a tool result is the tool's, although its role is the user's."""
    if message.is_tool_result:
        return Role.TOOL
    if message.role == "user":
        made = message.content.startswith((COMPACTION_MARKER, ONE_SHOT_MARKER))
        return Role.COMPACTION if made else Role.HUMAN
    return {"assistant": Role.ASSISTANT, "system": Role.SYSTEM}.get(message.role, Role.OTHER)


def of_message(message: Message) -> Iterator[Entry]:
    """The texts of a message: its own, then one for each tool call."""
    role = role_of(message)
    if message.content:
        size = byte_length(message.content)
        yield Entry(Kind.MESSAGE, 0, size, role, call=message.tool_call_id)
    for place, call in enumerate(message.tool_calls, start=1):
        size = byte_length(call.arguments)
        yield Entry(Kind.CALL, place, size, role, call.name, call.id)


def message_text(stored: bytes, part: int) -> str:
    """The text that `of_message` listed as `part` of a packed message."""
    message = message_of(stored)
    if part == 0:
        return message.content
    call = message.tool_calls[part - 1]
    return f"{call.name}\n{argument_text(call.arguments)}"


def argument_text(raw: str) -> str:
    """Arguments without JSON's escapes: names and values, one a line; as stored if malformed."""
    try:
        return "\n".join(_leaves(json.loads(raw, parse_int=str, parse_float=str)))
    except (ValueError, RecursionError):
        return raw


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, item in value.items():
            if isinstance(item, dict | list):
                yield name
                yield from _leaves(item)
            else:
                yield f"{name}: {_leaf(item)}"
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    else:
        yield _leaf(value)


def _leaf(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def of_record(record: CompactionRecord) -> Iterator[Entry]:
    """The texts of a compaction record: summary, anchors in their order, error."""
    if record.summary_text:
        yield Entry(Kind.SUMMARY, 0, byte_length(record.summary_text))
    for place, anchor in enumerate(record.anchors or (), start=1):
        yield Entry(Kind.ANCHOR, place, byte_length(anchor.content))
    if record.error:
        yield Entry(Kind.ERROR, 0, byte_length(record.error))


def record_text(record: CompactionRecord, kind: Kind, part: int) -> str:
    """The text that `of_record` listed."""
    if kind is Kind.SUMMARY:
        return record.summary_text
    if kind is Kind.ERROR:
        return record.error
    anchor = (record.anchors or ())[part - 1]
    return f"{anchor.kind}\n{anchor.content}"


def of_file(kind: Kind, size: int) -> Iterator[Entry]:
    """The texts of a file of `size` bytes: its pages."""
    for page in range(max(1, -(-size // PAGE))):
        role = Role.TOOL if kind is Kind.OFFLOAD else Role.NONE
        yield Entry(kind, page, min(PAGE, size - page * PAGE), role)


def file_text(path: bytes, page: int) -> str:
    """A page of a file; empty when the file is gone or was replaced by something else."""
    try:
        return read_page(Path(decoded(path)), page * PAGE, PAGE + OVERLAP).text
    except (SourceError, OSError, ValueError):
        return ""
