"""Tool-result trimming: old, large outputs keep their beginning and their end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from compaction.messages import Message
from compaction.ports import Ports
from compaction.provenance import Draft, Fate, Slot
from compaction.result import Memory
from compaction.rounds import marked, recent_from
from compaction.settings import Settings
from compaction.strategies.contract import Options, Outcome, Strategy
from compaction.strategies.options import TRIM, rounds
from compaction.trim import trim


def trimmed(draft: Draft, where: Iterable[int], options: Options) -> Draft:
    """The tool results at the positions `where`, which rise, without their middles."""
    changes: dict[int, Slot] = {}
    for position in where:
        slot = draft.slots[position]
        if not slot.message.is_tool_result:
            continue
        text = slot.message.content
        short = trim(text, options["trim_over"], options["trim_head"], options["trim_tail"])
        if short is not None:
            reason = f"{len(text):,} characters, cut in the middle"
            changes[position] = cut_short(slot, short, reason)
    return draft.with_slots(changes) if changes else draft


def cut_short(slot: Slot, text: str, reason: str) -> Slot:
    """The slot with less of its text."""
    fate = Fate.TRIMMED if slot.fate is Fate.KEPT else slot.fate
    message = replace(slot.message, content=text)
    return Slot(message, fate, slot.sources, "; ".join(filter(None, (slot.reason, reason))))


def _run(
    messages: Sequence[Message],
    settings: Settings,  # noqa: ARG001 - counts rounds, not tokens
    ports: Ports,
    memory: Memory,
    options: Options,
) -> Outcome:
    kept = marked(messages, ports.keep)
    older = (i for i in range(recent_from(messages, options["rounds"])) if i not in kept)
    return Outcome(trimmed(Draft.of(messages), older, options), memory)


STRATEGY = Strategy(
    name="tool-trim",
    label="Tool-result trimming",
    says="Sessions that are large because of what tools print; cheap enough to run first, always.",
    loses="The middle of long outputs before the newest rounds; nothing that anybody said.",
    fields=(rounds(2), *TRIM),
    run=_run,
)
