"""The tier ladder: the fuller the window, the more a compaction takes away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from compaction.anchors import Summary, merge, parse_summary
from compaction.budget import cut_to_budget, forced_cut
from compaction.ledger import Ledger
from compaction.messages import Message
from compaction.offload import Gate, Offloaded, offload
from compaction.ports import Ports
from compaction.provenance import Draft, Fate, Slot, sources_of
from compaction.records import CompactionRecord
from compaction.repair import repair
from compaction.result import CompactionResult, Memory
from compaction.runs import joined
from compaction.settings import Settings
from compaction.split import Split, split
from compaction.strategies import safe
from compaction.summary import SummaryRequest, compaction_message, previous_text
from compaction.tiers import Tier, tier_for
from compaction.tokens import BYTES_PER_TOKEN

EMERGENCY_CUT = "emergency fallback: forced truncation"
SUMMARY_FAILED = "LLM summary failed in Tier"


@dataclass(frozen=True, slots=True)
class _Outcome:
    """A tier's product, before it is counted."""

    draft: Draft
    memory: Memory
    record: CompactionRecord = CompactionRecord()
    moved: Mapping[int, Slot] = field(default_factory=dict)


def compact(
    messages: Sequence[Message] | Ledger,
    settings: Settings,
    ports: Ports = Ports(),  # noqa: B008 - immutable
    memory: Memory = Memory(),  # noqa: B008 - immutable
    *,
    tier: Tier | None = None,
) -> CompactionResult:
    """Compact `messages` as far as their fill of the window asks for.

    `tier` overrides the decision. A caller that compacts a growing conversation again and again
    may keep a `Ledger` (made for the same `offload_bytes`) and hand it in instead.
    The input is never changed. A record is made for every tier, also when nothing happened.
    """
    if settings.rules.guards:
        given = messages.messages if isinstance(messages, Ledger) else messages
        return safe.compact(given, settings, ports, memory, tier=tier)
    started = ports.nanoseconds()
    if isinstance(messages, Ledger):
        ledger = messages
    else:
        ledger = Ledger(settings.offload_bytes, messages)
    tokens = ledger.tokens
    chosen = tier_for(tokens, settings) if tier is None else tier
    outcome = _take(chosen, ledger, settings, ports, memory)
    after = ledger.size_of(outcome.draft) // BYTES_PER_TOKEN
    record = replace(
        outcome.record,
        id=ports.new_id(),
        session_id=settings.session_id,
        timestamp=ports.timestamp(),
        tier=int(chosen),
        tokens_before=tokens,
        tokens_after=after,
        msgs_before=len(ledger),
        msgs_after=len(outcome.draft.slots),
        compression_ratio=after / tokens if tokens else 0.0,
        duration=ports.nanoseconds() - started,
    )
    placed = outcome.moved.items() if settings.rules.aliases_input else ()
    rewritten = {index: slot.message for index, slot in placed}
    return CompactionResult(
        ledger.messages, outcome.draft, record, outcome.memory, record.error, rewritten
    )


def force(messages: Sequence[Message], settings: Settings) -> Draft:
    """The forced cut on its own, without a record."""
    return forced_cut(Draft.of(messages), settings.rules.forced_cut, settings.budget)


def _take(tier: Tier, ledger: Ledger, settings: Settings, ports: Ports, memory: Memory) -> _Outcome:
    untouched = Draft.of(ledger.messages)
    if tier is Tier.NONE:
        return _Outcome(untouched, memory)
    if tier is Tier.EMERGENCY:
        sizes = ledger.sizes(untouched.slots)
        cut = forced_cut(untouched, settings.rules.forced_cut, settings.budget, sizes)
        return _Outcome(cut, memory, _fell_back(cut, EMERGENCY_CUT))
    parts = split(ledger.messages, settings.tail)
    if parts is None:
        return _Outcome(untouched, memory)
    if tier is Tier.WARN:
        return _warn(ledger, parts, settings, ports, memory)
    older = parts.head if tier is Tier.FULL else parts.head[: len(parts.head) // 2]
    return _summarise(ledger, older, tier, settings, ports, memory)


def _fell_back(draft: Draft, why: str) -> CompactionRecord:
    return CompactionRecord(error=why, preserved_tail=len(draft.slots) - 1)


def _offload(
    ledger: Ledger, where: range, settings: Settings, ports: Ports, memory: Memory
) -> Offloaded:
    gate = Gate(settings.session_id, settings.offloader_bytes, settings.preview_lines)
    return offload(
        Draft.of(ledger.messages),
        ledger.large_in(where),
        settings.offload_bytes,
        gate,
        ports.offloads,
        memory.written,
    )


def _mended(draft: Draft, ledger: Ledger, rest: range, lead: int) -> Draft:
    """The draft repaired; it ends in the input messages `rest`, after `lead` others."""
    settled = ledger.cuts.settled_from(rest.start)
    if settled is None or (lead and not ledger.cuts.is_clean(1)):
        return repair(draft)
    # Only what lies before the first clean cut can have lost its partner.
    edge = lead + settled - rest.start
    mended = repair(Draft(draft.slots[lead:edge], draft.drops))
    slots = joined(draft.slots[:lead], mended.slots, draft.slots[edge:])
    return Draft(slots, mended.drops)


def _warn(
    ledger: Ledger, parts: Split, settings: Settings, ports: Ports, memory: Memory
) -> _Outcome:
    moved = _offload(ledger, parts.head, settings, ports, memory)
    return _Outcome(
        _mended(moved.draft, ledger, range(len(ledger)), lead=0),
        replace(memory, written=moved.written),
        CompactionRecord(offloaded=moved.entries or None, preserved_tail=len(parts.tail)),
        moved.moved,
    )


def _summarise(
    ledger: Ledger, older: range, tier: Tier, settings: Settings, ports: Ports, memory: Memory
) -> _Outcome:
    ports.on_leaving(ledger.messages[older.start : older.stop])
    moved = _offload(ledger, older, settings, ports, memory)
    memory = replace(memory, written=moved.written)
    leaving = Draft(moved.draft.slots[older.start : older.stop]).messages
    summary = _ask(leaving, ports, memory)
    if summary is None:
        placeholders = settings.rules.fallback_sees_placeholders
        seen = moved.draft if placeholders else Draft.of(ledger.messages)
        sizes = ledger.sizes(seen.slots)
        cut = cut_to_budget(seen, settings.budget, settings.fallback_tail, sizes)
        return _Outcome(cut, memory, _fell_back(cut, SUMMARY_FAILED + tier.label), moved.moved)
    anchors = summary.anchors if memory.anchors is None else merge(memory.anchors, summary.anchors)
    message = compaction_message(anchors, summary.text, moved.entries)
    rest = range(older.stop, len(ledger))
    record = CompactionRecord(
        anchors=anchors,
        offloaded=moved.entries or None,
        summarized=len(older),
        preserved_tail=len(rest),
        summary_text=summary.text,
    )
    return _Outcome(
        # The system message and the one just made come first.
        _mended(replace_range(moved.draft, older, message), ledger, rest, lead=2),
        replace(memory, summary=summary.text, anchors=anchors),
        record,
        moved.moved,
    )


def replace_range(draft: Draft, older: range, message: Message) -> Draft:
    """`draft` with the slots in `older` summarised into one `message`.

    An empty range still gets the message: the original adds one for nothing summarised.
    """
    sources = sources_of(draft.slots[older.start : older.stop])
    slot = (
        Slot(message, Fate.SUMMARISED, sources)
        if sources
        else Slot(message, Fate.INSERTED, reason="a summary of nothing")
    )
    return replace(
        draft, slots=joined(draft.slots[: older.start], (slot,), draft.slots[older.stop :])
    )


def _ask(leaving: tuple[Message, ...], ports: Ports, memory: Memory) -> Summary | None:
    if ports.summariser is None:
        return None
    previous = previous_text(memory.summary, memory.anchors or ())
    try:
        answer = ports.summariser.summarise(SummaryRequest(leaving, previous))
    except Exception:  # whatever a summariser raises, the session goes on
        return None
    return None if answer is None else parse_summary(answer.content)
