"""The tier ladder: the fuller the window, the more a compaction takes away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from compaction.anchors import Summary, merge, parse_summary
from compaction.budget import cut_to_budget, forced_cut
from compaction.messages import Message
from compaction.offload import Gate, Offloaded, offload
from compaction.ports import Ports
from compaction.provenance import Draft, Fate, Slot
from compaction.records import CompactionRecord
from compaction.repair import repair
from compaction.result import CompactionResult, Memory
from compaction.settings import Settings
from compaction.split import Split, split
from compaction.summary import SummaryRequest, as_text, compaction_message, previous_text
from compaction.tiers import Tier, tier_for
from compaction.tokens import BYTES_PER_TOKEN, message_bytes

EMERGENCY_CUT = "emergency fallback: forced truncation"
SUMMARY_FAILED = "LLM summary failed in Tier"


@dataclass(frozen=True, slots=True)
class _Outcome:
    """A tier's product, before it is counted."""

    draft: Draft
    memory: Memory
    record: CompactionRecord = CompactionRecord()
    rewritten: Mapping[int, Message] | None = None


def compact(
    messages: Sequence[Message],
    settings: Settings,
    ports: Ports = Ports(),  # noqa: B008 - immutable
    memory: Memory = Memory(),  # noqa: B008 - immutable
    *,
    tier: Tier | None = None,
    sizes: Sequence[int] | None = None,
) -> CompactionResult:
    """Compact `messages` as far as their fill of the window asks for.

    `tier` overrides the decision; `sizes` are the messages' bytes where the caller knows them.
    The input is never changed. A record is made for every tier, also when nothing happened.
    """
    started = ports.nanoseconds()
    before = tuple(messages)
    sizes = list(map(message_bytes, before)) if sizes is None else sizes
    tokens = sum(sizes) // BYTES_PER_TOKEN
    chosen = tier_for(tokens, settings) if tier is None else tier
    outcome = _take(chosen, before, settings, ports, memory)
    after = _size(outcome.draft, sizes) // BYTES_PER_TOKEN
    record = replace(
        outcome.record,
        id=ports.new_id(),
        session_id=settings.session_id,
        timestamp=ports.timestamp(),
        tier=int(chosen),
        tokens_before=tokens,
        tokens_after=after,
        msgs_before=len(before),
        msgs_after=len(outcome.draft.slots),
        compression_ratio=after / tokens if tokens else 0.0,
        duration=ports.nanoseconds() - started,
    )
    return CompactionResult(
        before, outcome.draft, record, outcome.memory, record.error, outcome.rewritten or {}
    )


def force(messages: Sequence[Message], settings: Settings) -> Draft:
    """The forced cut on its own, without a record."""
    return forced_cut(Draft.of(messages), settings.rules.forced_cut, settings.budget)


def _size(draft: Draft, sizes: Sequence[int]) -> int:
    return sum(
        sizes[slot.sources[0]] if slot.fate is Fate.KEPT else message_bytes(slot.message)
        for slot in draft.slots
    )


def _take(
    tier: Tier, before: tuple[Message, ...], settings: Settings, ports: Ports, memory: Memory
) -> _Outcome:
    untouched = Draft.of(before)
    if tier is Tier.NONE:
        return _Outcome(untouched, memory)
    if tier is Tier.EMERGENCY:
        cut = force(before, settings)
        return _Outcome(cut, memory, _fell_back(cut, EMERGENCY_CUT))
    parts = split(before, settings.tail)
    if parts is None:
        return _Outcome(untouched, memory)
    if tier is Tier.WARN:
        return _warn(untouched, parts, settings, ports, memory)
    older = parts.head if tier is Tier.FULL else parts.head[: len(parts.head) // 2]
    return _summarise(untouched, older, tier, settings, ports, memory)


def _fell_back(draft: Draft, why: str) -> CompactionRecord:
    return CompactionRecord(error=why, preserved_tail=len(draft.slots) - 1)


def _offload(
    draft: Draft, where: range, settings: Settings, ports: Ports, memory: Memory
) -> Offloaded:
    gate = Gate(settings.session_id, settings.offloader_bytes, settings.preview_lines)
    return offload(draft, where, settings.offload_bytes, gate, ports.offloads, memory.written)


def _rewritten(moved: Offloaded, settings: Settings) -> dict[int, Message]:
    if not settings.rules.aliases_input:
        return {}
    return {
        slot.sources[0]: slot.message for slot in moved.draft.slots if slot.fate is Fate.OFFLOADED
    }


def _warn(draft: Draft, parts: Split, settings: Settings, ports: Ports, memory: Memory) -> _Outcome:
    moved = _offload(draft, parts.head, settings, ports, memory)
    record = CompactionRecord(offloaded=moved.entries or None, preserved_tail=len(parts.tail))
    return _Outcome(
        repair(moved.draft),
        replace(memory, written=moved.written),
        record,
        _rewritten(moved, settings),
    )


def _summarise(
    draft: Draft, older: range, tier: Tier, settings: Settings, ports: Ports, memory: Memory
) -> _Outcome:
    ports.on_leaving(draft.messages[older.start : older.stop])
    moved = _offload(draft, older, settings, ports, memory)
    memory = replace(memory, written=moved.written)
    leaving = moved.draft.messages[older.start : older.stop]
    summary = _ask(leaving, ports, memory)
    if summary is None:
        seen = moved.draft if settings.rules.fallback_sees_placeholders else draft
        cut = cut_to_budget(seen, settings.budget, settings.fallback_tail)
        failed = _fell_back(cut, SUMMARY_FAILED + tier.label)
        return _Outcome(cut, memory, failed, _rewritten(moved, settings))
    anchors = summary.anchors if memory.anchors is None else merge(memory.anchors, summary.anchors)
    record = CompactionRecord(
        anchors=anchors,
        offloaded=moved.entries or None,
        summarized=len(older),
        preserved_tail=len(draft.slots) - 1 - len(older),
        summary_text=summary.text,
    )
    message = compaction_message(anchors, summary.text, moved.entries)
    return _Outcome(
        repair(replace_range(moved.draft, older, message)),
        replace(memory, summary=summary.text, anchors=anchors),
        record,
        _rewritten(moved, settings),
    )


def replace_range(draft: Draft, older: range, message: Message) -> Draft:
    """`draft` with the slots in `older` summarised into one `message`.

    An empty range still gets the message: the original adds one for nothing summarised.
    """
    sources = tuple(source for index in older for source in draft.slots[index].sources)
    slot = (
        Slot(message, Fate.SUMMARISED, sources)
        if sources
        else Slot(message, Fate.INSERTED, reason="a summary of nothing")
    )
    slots = (*draft.slots[: older.start], slot, *draft.slots[older.stop :])
    return replace(draft, slots=slots)


def _ask(leaving: Sequence[Message], ports: Ports, memory: Memory) -> Summary | None:
    if ports.summariser is None:
        return None
    previous = previous_text(memory.summary, memory.anchors or ())
    request = SummaryRequest(as_text(leaving), previous, tuple(leaving))
    try:
        answer = ports.summariser.summarise(request)
    except Exception:  # whatever a summariser raises, the session goes on
        return None
    return None if answer is None else parse_summary(answer.content)
