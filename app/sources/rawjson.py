"""The `tool_calls` cell of a row, with every call's arguments left exactly as they stand.

Parsing and re-dumping would change key order, number spelling and escapes, and with them the
bytes that the token estimate counts.
"""

from __future__ import annotations

import json
import re
from typing import Any

from compaction.messages import ToolCall
from compaction.utf8 import byte_length


class BadToolCalls(ValueError):
    """The cell is not a JSON list of calls; the text says where it stops being one."""


def tool_calls(cell: str) -> tuple[ToolCall, ...]:
    """The calls in a `tool_calls` cell; an empty cell and `null` hold none.

    Raises BadToolCalls.
    """
    try:
        return _calls(cell)
    except json.JSONDecodeError as error:
        raise BadToolCalls(f"{error.msg} at character {error.pos}") from error


def call_bytes(cell: str) -> int:
    """Bytes the token estimate counts in a cell: ids, names, raw arguments. 0 when malformed."""
    try:
        calls = tool_calls(cell)
    except BadToolCalls:
        return 0
    return sum(byte_length(c.id) + byte_length(c.name) + byte_length(c.arguments) for c in calls)


def _refuse(constant: str) -> Any:
    raise BadToolCalls(f"{constant} is not JSON")


# Numbers are kept as text: they are never needed, and a long one would be refused.
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_refuse)
_SPACE = re.compile(r"[ \t\n\r]*")
_NESTING = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[{]|[\]}]', re.DOTALL)


def _calls(text: str) -> tuple[ToolCall, ...]:
    at = _skip_space(text, 0)
    if text[at:].rstrip(" \t\n\r") in ("", "null"):
        return ()
    calls: list[ToolCall] = []
    at = _after(text, at, "[")
    while not text.startswith("]", at):
        if calls:
            at = _after(text, at, ",")
        call, at = _call(text, at)
        calls.append(call)
    if _skip_space(text, at + 1) != len(text):
        raise BadToolCalls(f"something follows the list at character {at + 1}")
    return tuple(calls)


def _call(text: str, at: int) -> tuple[ToolCall, int]:
    """The call at `at`, and where the next token starts."""
    if text.startswith("null", at):
        return ToolCall("", ""), _skip_space(text, at + 4)
    fields: dict[str, str] = {}
    at = _after(text, at, "{")
    while not text.startswith("}", at):
        if fields:
            at = _after(text, at, ",")
        _after(text, at, '"')
        key, at = _DECODER.raw_decode(text, at)
        at = _after(text, _skip_space(text, at), ":")
        end = _value_end(text, at)
        fields[key.lower()] = text[at:end]
        at = _skip_space(text, end)
    call = ToolCall(_text(fields, "id"), _text(fields, "name"), fields.get("arguments", ""))
    return call, _skip_space(text, at + 1)


def _skip_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _after(text: str, at: int, char: str) -> int:
    """Where the next token starts after `char`, which must stand at `at`."""
    if not text.startswith(char, at):
        raise BadToolCalls(f"expected {char!r} at character {at}")
    return _skip_space(text, at + 1)


def _value_end(text: str, at: int) -> int:
    try:
        return int(_DECODER.raw_decode(text, at)[1])
    except RecursionError:
        return _nested_end(text, at)


def _nested_end(text: str, at: int) -> int:
    # Too deep for the decoder: match brackets, without looking at what stands between them.
    depth = 0
    for match in _NESTING.finditer(text, at):
        if match.group() in "[{":
            depth += 1
        elif match.group() in "]}":
            depth -= 1
            if depth <= 0:
                return match.end()
    raise BadToolCalls(f"the value at character {at} never ends")


def _text(fields: dict[str, str], key: str) -> str:
    raw = fields.get(key, "null")
    if raw == "null":
        return ""
    if not raw.startswith('"'):
        raise BadToolCalls(f"{key} is not text")
    return str(json.loads(raw))
