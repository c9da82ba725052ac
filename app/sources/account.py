"""A session's compactions as its own files still prove them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.sources.model import Records, Row
from app.sources.tool_results import Original
from compaction.messages import Message
from compaction.reconstruct import Reconstruction, StoredRow, reconstruct

FindOriginal = Callable[[Message], Original | None]


def account_of(rows: Sequence[Row], records: Records, original_of: FindOriginal) -> Reconstruction:
    """The reconstruction of a session; rows saved in the same second are one run."""

    def text_of(message: Message) -> str | None:
        found = original_of(message)
        return found.text if found else None

    stored = [StoredRow(row.message, row.created_at) for row in rows]
    return reconstruct(stored, records.records, text_of)
