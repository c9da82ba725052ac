"""Vector recall: of what is older than the newest rounds, only what bears on the task at hand.

A recalled message stays where it was, with its tool batch, so order and pairs survive and no second
copy appears.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from compaction.messages import Message
from compaction.ports import Ports
from compaction.provenance import Draft, Slot
from compaction.result import Memory
from compaction.rounds import is_persons, marked, pinned, recent_from, units
from compaction.settings import Settings
from compaction.strategies.budget import TOO_LARGE, allowed_bytes
from compaction.strategies.contract import Options, Outcome, Strategy
from compaction.strategies.options import BUDGET, rounds
from compaction.tokens import message_bytes


def _run(
    messages: Sequence[Message],
    settings: Settings,
    ports: Ports,
    memory: Memory,
    options: Options,
) -> Outcome:
    draft = Draft.of(messages)
    start, pins = recent_from(messages, options["rounds"]), pinned(messages)
    pins |= marked(messages, ports.keep)
    older = [unit for unit in units(messages) if unit.start < start and not pins >= set(unit)]
    room = allowed_bytes(settings, options)
    sizes = list(map(message_bytes, messages))
    if not older or room <= 0:
        return Outcome(draft, memory)
    wanted = [index >= start or index in pins for index in range(len(messages))]
    room -= sum(size for size, want in zip(sizes, wanted, strict=True) if want)
    try:
        scored = _scored(messages, older, ports)
    except Exception as failure:  # whatever an embedder or a store raises, the session goes on
        return Outcome(draft, memory, error=f"nothing could be recalled: {failure}")
    recalled: dict[int, float] = {}
    for unit, score in scored:
        size = sum(sizes[index] for index in unit if not wanted[index])
        if score > 0 and size <= room:
            room -= size
            wanted[unit.start : unit.stop] = [True] * len(unit)
            recalled.update(dict.fromkeys(set(unit) - pins, score))
    told = draft.with_slots(
        {index: _recalled(draft.slots[index], recalled[index]) for index in sorted(recalled)}
    )
    kept = told.keep(wanted, "less similar to the task at hand")
    return Outcome(kept, memory, error=TOO_LARGE if room < 0 else "")


def _scored(
    messages: Sequence[Message], older: Sequence[range], ports: Ports
) -> list[tuple[range, float]]:
    texts = [_text(messages[unit.start : unit.stop]) for unit in older]
    *vectors, query = ports.embedder.embed([*texts, _query(messages)])
    if len(vectors) != len(texts):
        raise ValueError(f"{len(vectors) + 1} vectors came for {len(texts) + 1} texts")
    store = ports.vectors()
    for key, vector in enumerate(vectors):
        store.add(key, vector)
    return [(older[key], score) for key, score in store.nearest(query, len(older))]


def _query(messages: Sequence[Message]) -> str:
    """What is at hand: the newest human line, and what the model last said and called."""
    asked = next((m.content for m in reversed(messages) if is_persons(m)), "")
    said = next((m for m in reversed(messages) if m.role == "assistant"), Message("assistant"))
    return f"{asked}\n{_text([said])}"


def _text(messages: Sequence[Message]) -> str:
    words = (
        text
        for message in messages
        for text in (*(f"{c.name} {c.arguments}" for c in message.tool_calls), message.content)
    )
    return "\n".join(words)


def _recalled(slot: Slot, score: float) -> Slot:
    return replace(slot, reason=f"recalled, similarity {score:.2f}")


STRATEGY = Strategy(
    name="vector-recall",
    label="Vector recall",
    says="Very long sessions that come back to old topics.",
    loses="Whatever was not similar in wording to what is asked now, even if it will be needed.",
    fields=(rounds(6), BUDGET),
    run=_run,
)
