"""What is said of a compaction once it is done: its record, and how its outcome is recognised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from compaction.messages import Message
from compaction.ports import Ports
from compaction.provenance import Draft, Fate
from compaction.recognition import digest
from compaction.records import CompactionRecord, OffloadEntry
from compaction.result import Memory
from compaction.settings import Settings
from compaction.tiers import Tier
from compaction.tokens import BYTES_PER_TOKEN, message_bytes


def size(messages: Sequence[Message]) -> int:
    """Bytes of the estimate."""
    return sum(map(message_bytes, messages))


def account(
    draft: Draft, memory: Memory, entries: Sequence[OffloadEntry], errors: Sequence[str]
) -> CompactionRecord:
    """What a draft did, as a record without its numbers; see `numbered`."""
    changed = dict(draft.changes())
    summaries = [slot for slot in changed.values() if slot.fate is Fate.SUMMARISED]
    return CompactionRecord(
        anchors=memory.anchors if summaries else None,
        offloaded=tuple(entries) or None,
        summarized=sum(len(slot.sources) for slot in summaries),
        preserved_tail=len(draft.slots) - 1 - max(changed, default=0),
        summary_text=memory.summary if summaries else "",
        error="; ".join(errors),
    )


def numbered(
    record: CompactionRecord,
    before: Sequence[Message],
    draft: Draft,
    tier: Tier,
    settings: Settings,
    ports: Ports,
    started: int,
) -> CompactionRecord:
    """The record with its numbers, id and times; `started` is from `ports.nanoseconds`."""
    tokens = size(before) // BYTES_PER_TOKEN
    after = size(draft.messages) // BYTES_PER_TOKEN
    return replace(
        record,
        id=ports.new_id(),
        session_id=settings.session_id,
        timestamp=ports.timestamp(),
        tier=int(tier),
        tokens_before=tokens,
        tokens_after=after,
        msgs_before=len(before),
        msgs_after=len(draft.slots),
        compression_ratio=after / tokens if tokens else 0.0,
        duration=ports.nanoseconds() - started,
    )


def mark(messages: Sequence[Message], settings: Settings) -> str:
    """What a list of messages is recognised by, under settings that ask for the same."""
    lines = (settings.warn, settings.soft, settings.full, settings.emergency)
    under = repr((settings.context_window, settings.tail, lines))
    return f"{len(messages)} {digest(messages, under)}"


def is_settled(messages: Sequence[Message], settings: Settings, memory: Memory) -> bool:
    """Whether they are the last outcome as it was, under settings that ask for the same."""
    # One that has grown, as at most calls, need not be read for that.
    count, _, _ = memory.settled.partition(" ")
    return count == str(len(messages)) and memory.settled == mark(messages, settings)
