"""The compaction record: harness9's one line of JSON per compaction, written and read.

Rules: facts on harness9, §3 *Record* and details §6; the golden vectors decide.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeVar

from compaction.anchors import Anchor
from compaction.gojson import go_float, go_string
from compaction.utf8 import decoded

_Item = TypeVar("_Item")
_Reader = Callable[[Any, str], Any]

ZERO_TIME = "0001-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class OffloadEntry:
    """A tool result that was moved to a file."""

    tool_call_id: str
    tool_name: str
    file_path: str
    """Relative to the project, as the model is told."""
    bytes: int
    lines: int


@dataclass(frozen=True, slots=True)
class CompactionRecord:
    """What one compaction did, field for field as harness9 stores it.

    Message counts include the system message. `None` for a list is Go's nil, written `null`.
    """

    id: str = ""
    session_id: str = ""
    timestamp: str = ZERO_TIME
    """RFC 3339 with offset, as written; ordered by line, not by clock."""
    tier: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    msgs_before: int = 0
    msgs_after: int = 0
    anchors: tuple[Anchor, ...] | None = None
    offloaded: tuple[OffloadEntry, ...] | None = None
    summarized: int = 0
    preserved_tail: int = 0
    summary_text: str = ""
    compression_ratio: float = 0.0
    """Tokens after over before; above 1 the compaction made things larger."""
    duration: int = 0
    """Nanoseconds."""
    error: str = ""


def record_line(record: CompactionRecord) -> str:
    """The record as its JSON line, newline included: byte for byte what harness9 appends.

    Raises ValueError when a number cannot be written.
    """
    pairs = [
        ("id", go_string(record.id)),
        ("session_id", go_string(record.session_id)),
        ("timestamp", go_string(_go_time(record.timestamp))),
        ("tier", str(record.tier)),
        ("tokens_before", str(record.tokens_before)),
        ("tokens_after", str(record.tokens_after)),
        ("msgs_before", str(record.msgs_before)),
        ("msgs_after", str(record.msgs_after)),
        ("anchors", _list(record.anchors, _anchor_json)),
        ("offloaded", _list(record.offloaded, _offload_json)),
        ("summarized", str(record.summarized)),
        ("preserved_tail", str(record.preserved_tail)),
        ("summary_text", go_string(record.summary_text)),
        ("compression_ratio", go_float(record.compression_ratio)),
        ("duration", str(record.duration)),
    ]
    if record.error:
        pairs.append(("error", go_string(record.error)))
    return _object(pairs) + "\n"


_FRACTION = re.compile(r"\.(\d{1,9})\d*")


def _go_time(text: str) -> str:
    # RFC 3339 as Go prints it: no trailing zeros in the fraction, UTC as Z.
    def shortest(match: re.Match[str]) -> str:
        digits = match[1].rstrip("0")
        return f".{digits}" if digits else ""

    return re.sub(r"[+-]00:00$", "Z", _FRACTION.sub(shortest, text, count=1))


def _object(pairs: Iterable[tuple[str, str]]) -> str:
    return "{" + ",".join(f'"{key}":{value}' for key, value in pairs) + "}"


def _list(items: tuple[_Item, ...] | None, each: Callable[[_Item], str]) -> str:
    return "null" if items is None else "[" + ",".join(map(each, items)) + "]"


def _anchor_json(anchor: Anchor) -> str:
    return _object([("type", go_string(anchor.kind)), ("content", go_string(anchor.content))])


def _offload_json(entry: OffloadEntry) -> str:
    return _object(
        [
            ("tool_call_id", go_string(entry.tool_call_id)),
            ("tool_name", go_string(entry.tool_name)),
            ("file_path", go_string(entry.file_path)),
            ("bytes", str(entry.bytes)),
            ("lines", str(entry.lines)),
        ]
    )


class BadRecord(ValueError):
    """A line that is not a compaction record; the text says what is wrong with it."""


def parse_record(line: bytes) -> CompactionRecord:
    """The record in one line, read as the original reads it.

    Keys match in any letter case and the last one wins, unknown keys are ignored, `null` leaves
    a field as it was; a wrong type, a bad timestamp or trailing data is an error. Bytes that are
    not UTF-8 and lone surrogates become U+FFFD.

    Raises BadRecord.
    """
    try:
        value = json.loads(decoded(line), object_pairs_hook=tuple, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"not JSON: {error}") from error
    if value is None:
        return CompactionRecord()
    return CompactionRecord(**_fields(value, _RECORD, "record"))


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _fields(value: Any, shape: Mapping[str, tuple[str, _Reader]], what: str) -> dict[str, Any]:
    # Objects are read as tuples of pairs: where a key occurs twice, both must be of the right type.
    if not isinstance(value, tuple):
        raise BadRecord(f"{what}: expected an object, found {_kind(value)}")
    fields: dict[str, Any] = {}
    for key, item in value:
        target = shape.get(_folded(key))
        if target is None or (item is None and target[1] not in _NULLABLE):
            continue
        name, read = target
        fields[name] = read(item, f"{what}.{name}")
    return fields


def _folded(key: str) -> str:
    # Go folds ASCII letters, and these two that fold into ASCII.
    return key.lower().replace("\u017f", "s").replace("\u212a", "k")


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise BadRecord(f"{where}: expected text, found {_kind(value)}")
    if value.isascii():
        return value
    return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in value)


def _whole(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadRecord(f"{where}: expected a whole number, found {_kind(value)}")
    if not -(1 << 63) <= value < 1 << 63:
        raise BadRecord(f"{where}: {value} does not fit 64 bits")
    return value


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadRecord(f"{where}: expected a number, found {_kind(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isinf(number):
        raise BadRecord(f"{where}: the number is too large")
    return number


_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:Z|[+-](\d\d):(\d\d))", re.ASCII
)


def _time(value: Any, where: str) -> str:
    text = _text(value, where)
    match = _RFC3339.fullmatch(text)
    if match is None:
        raise BadRecord(f"{where}: {text[:40]!r} is not an RFC 3339 time")
    year, month, day, hour, minute, second, *offset = (int(part or 0) for part in match.groups())
    try:
        # Year 0 is allowed in RFC 3339 and a leap year, but unknown to Python.
        date(year or 4, month, day)
    except ValueError as error:
        raise BadRecord(f"{where}: {text!r}: {error}") from error
    if hour > 23 or minute > 59 or second > 59 or offset[0] > 24 or offset[1] > 60:
        raise BadRecord(f"{where}: {text!r} has no such time")
    return text


def _many(read: Callable[[Any, str], _Item]) -> Callable[[Any, str], tuple[_Item, ...] | None]:
    def many(value: Any, where: str) -> tuple[_Item, ...] | None:
        if value is None:
            return None
        if not isinstance(value, list):
            raise BadRecord(f"{where}: expected a list, found {_kind(value)}")
        return tuple(read(item, f"{where}[{index}]") for index, item in enumerate(value))

    return many


def _anchor(value: Any, where: str) -> Anchor:
    shape = {"type": ("kind", _text), "content": ("content", _text)}
    given = _fields(() if value is None else value, shape, where)
    return Anchor(**{"kind": "", "content": "", **given})


def _offload(value: Any, where: str) -> OffloadEntry:
    fields = {"tool_call_id": "", "tool_name": "", "file_path": "", "bytes": 0, "lines": 0}
    given = _fields(() if value is None else value, _OFFLOAD, where)
    return OffloadEntry(**{**fields, **given})


_KINDS = {str: "text", bool: "true or false", int: "a number", float: "a number", list: "a list"}


def _kind(value: Any) -> str:
    return "null" if value is None else _KINDS.get(type(value), "an object")


_anchors, _offloads = _many(_anchor), _many(_offload)
_NULLABLE: tuple[_Reader, ...] = (_anchors, _offloads)
_OFFLOAD: dict[str, tuple[str, _Reader]] = {
    "tool_call_id": ("tool_call_id", _text),
    "tool_name": ("tool_name", _text),
    "file_path": ("file_path", _text),
    "bytes": ("bytes", _whole),
    "lines": ("lines", _whole),
}
_RECORD: dict[str, tuple[str, _Reader]] = {
    "id": ("id", _text),
    "session_id": ("session_id", _text),
    "timestamp": ("timestamp", _time),
    "tier": ("tier", _whole),
    "tokens_before": ("tokens_before", _whole),
    "tokens_after": ("tokens_after", _whole),
    "msgs_before": ("msgs_before", _whole),
    "msgs_after": ("msgs_after", _whole),
    "anchors": ("anchors", _anchors),
    "offloaded": ("offloaded", _offloads),
    "summarized": ("summarized", _whole),
    "preserved_tail": ("preserved_tail", _whole),
    "summary_text": ("summary_text", _text),
    "compression_ratio": ("compression_ratio", _number),
    "duration": ("duration", _whole),
    "error": ("error", _text),
}
