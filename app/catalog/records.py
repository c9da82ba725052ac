"""A compaction record as the index keeps it."""

from __future__ import annotations

import zlib
from datetime import datetime

from compaction.records import CompactionRecord, parse_record, record_line
from compaction.utf8 import encoded


def kept_record(record: CompactionRecord) -> bytes:
    """The record's line, compressed."""
    return zlib.compress(encoded(record_line(record)), 1)


def record_of(kept: bytes) -> CompactionRecord:
    """The record that `kept_record` was given."""
    return parse_record(zlib.decompress(kept))


def second_of(record: CompactionRecord) -> int | None:
    """When it was written, in Unix seconds; None when its time cannot be placed."""
    try:
        return int(datetime.fromisoformat(record.timestamp).timestamp())
    except (ValueError, OverflowError):
        return None
