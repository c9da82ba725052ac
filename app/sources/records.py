"""A session's compaction records: JSON lines of any length, read past whatever is damaged.

The file is appended to by programs that can be killed at any byte, and by two at once. So a line
may be torn, run into the next one, or be full of NULs; what can be read is read, and the rest is
reported with its line number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.errors import SourceUnreadable
from app.sources.folder import opened
from app.sources.model import Damage, RecordLine, Records
from compaction.records import BadRecord, CompactionRecord, parse_record

LONGEST_LINE = 32 * 1024 * 1024
"""Bytes. The original writes nothing near this; a longer line is skipped and reported."""

_CHUNK = 1024 * 1024
_MOST_DAMAGE = 200
_BOM = b"\xef\xbb\xbf"

# Inside a JSON string the quotes would be escaped, and nothing nested in a record starts with an
# id: so these bytes are always the beginning of a record.
_START = re.compile(rb'(?=\{"id":")')


def read_records(path: Path, longest: int = LONGEST_LINE) -> Records:
    """Every record in `path`, in file order, and what could not be read. Never raises for content.

    Raises SourceUnreadable when the file cannot be opened or read.
    """
    return read_more(path, Place(), longest)[0]


@dataclass(frozen=True, slots=True)
class Place:
    """Where reading can go on: the first line that was not finished when we came to it."""

    offset: int = 0
    """Bytes from the beginning of the file."""
    line: int = 1


def read_more(path: Path, place: Place, longest: int = LONGEST_LINE) -> tuple[Records, Place]:
    """The records from `place` on, and where to go on next time.

    A last line without its newline is read, but read again next time: it may still grow.

    Raises SourceUnreadable when the file cannot be opened or read.
    """
    lines: list[RecordLine] = []
    damage: list[Damage] = []
    for number, raw, complete, end in _numbered(path, longest, place):
        found, says = _records_in(raw, complete)
        lines.extend(RecordLine(number, record) for record in found)
        if says:
            damage.append(Damage(path, f"Line {number} of {path.name} {says}.", number))
        if complete:
            place = Place(end, number + 1)
    return Records(path, tuple(lines), _bounded(path, damage)), place


def _bounded(path: Path, damage: list[Damage]) -> tuple[Damage, ...]:
    if len(damage) <= _MOST_DAMAGE:
        return tuple(damage)
    rest = len(damage) - _MOST_DAMAGE
    says = f"{rest} further lines of {path.name} are damaged."
    return (*damage[:_MOST_DAMAGE], Damage(path, says, damage[_MOST_DAMAGE].line))


def _records_in(raw: bytes | None, complete: bool) -> tuple[list[CompactionRecord], str]:
    """The records in one line, and what is wrong with it, if anything."""
    if raw is None:
        return [], "is too long to be a compaction record and was skipped"
    if not raw.strip(b" \t\r"):
        return [], ""
    try:
        return [_record(raw)], _encoding_fault(raw)
    except BadRecord as error:
        fault = str(error)
    found = _run_together(raw)
    if found:
        return found, f"is damaged; {_counted(len(found))} in it could still be read"
    if not complete:
        return [], f"breaks off: it is torn or still being written ({fault})"
    return [], f"is not a compaction record ({fault})"


def _record(raw: bytes) -> CompactionRecord:
    record = parse_record(raw)
    if record == CompactionRecord():
        raise BadRecord("it is empty")
    return record


def _encoding_fault(raw: bytes) -> str:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return "holds bytes that are not UTF-8; they are shown as \ufffd"
    return ""


def _run_together(raw: bytes) -> list[CompactionRecord]:
    """Whole records in a line that as a whole is none: another was torn in front of them."""
    found = []
    for piece in _START.split(raw):
        try:
            record = _record(piece)
        except BadRecord:
            continue
        if record.id and record.tier:
            found.append(record)
    return found


def _counted(records: int) -> str:
    return "one record" if records == 1 else f"{records} records"


def _numbered(
    path: Path, longest: int, place: Place
) -> Iterator[tuple[int, bytes | None, bool, int]]:
    """Line number, bytes without the newline (None when too long), whether it had one, its end."""
    number, at = place.line, place.offset
    line = bytearray()
    skipping = False
    for chunk in _chunks(path, place.offset):
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            line += chunk[start:end]
            skipping = skipping or len(line) > longest
            yield number, _content(line, number, skipping), True, at + end + 1
            number, start, skipping = number + 1, end + 1, False
            line.clear()
        line += chunk[start:]
        at += len(chunk)
        if len(line) > longest:
            skipping = True
            line.clear()
    if line or skipping:
        yield number, _content(line, number, skipping), False, at


def _content(line: bytearray, number: int, skipping: bool) -> bytes | None:
    if skipping:
        return None
    return bytes(line).removeprefix(_BOM) if number == 1 else bytes(line)


def _chunks(path: Path, offset: int) -> Iterator[bytes]:
    try:
        with opened(path) as file:
            file.seek(offset)
            while chunk := file.read(_CHUNK):
                yield chunk
    except OSError as error:
        raise SourceUnreadable(f"{path} cannot be read: {error.strerror}.") from error
