"""Sparse selection: nothing recent is touched, what is older gets thinner with its age.

Before the newest rounds, repetition is folded and long outputs lose their middle. Still further
back only what people said, and what the caller marked, stays whole; the rest becomes extracts in
which key parameters and decisions stand word for word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from compaction.digest import digest
from compaction.folding import error_line, error_shape, fold_lines
from compaction.messages import Message
from compaction.ports import Ports
from compaction.provenance import Draft, Fate, Slot, sources_of
from compaction.result import Memory
from compaction.rounds import is_persons, is_summary, marked, pinned, recent_from
from compaction.runs import joined
from compaction.settings import Field, Kind, Settings
from compaction.strategies.asking import stretches
from compaction.strategies.contract import Options, Outcome, Strategy
from compaction.strategies.options import DIGEST, TRIM, rounds
from compaction.strategies.trimming import cut_short, trimmed
from compaction.tokens import message_bytes
from compaction.utf8 import byte_length

_FAR = Field(
    "far_rounds",
    "Extracts only before the last",
    "rounds",
    Kind.COUNT,
    "What is older than this many rounds is kept in extracts.",
    least=1,
    default=24,
)


def _run(
    messages: Sequence[Message],
    settings: Settings,  # noqa: ARG001 - counts rounds, not tokens
    ports: Ports,
    memory: Memory,
    options: Options,
) -> Outcome:
    recent = recent_from(messages, options["rounds"])
    far = min(recent, recent_from(messages, max(options["far_rounds"], options["rounds"])))
    kept = marked(messages, ports.keep)
    thinner = [position for position in range(far, recent) if position not in kept]
    draft = trimmed(_folded(Draft.of(messages), thinner), thinner, options)
    return Outcome(_extracted(draft, far, kept, options["digest_bytes"]), memory)


def _folded(draft: Draft, where: Sequence[int]) -> Draft:
    changes = dict(_foldings(draft, where))
    return draft.with_slots(changes) if changes else draft


def _foldings(draft: Draft, where: Sequence[int]) -> Iterator[tuple[int, Slot]]:
    seen: set[str] = set()
    for position in where:
        slot = draft.slots[position]
        text = slot.message.content
        if not slot.message.is_tool_result:
            continue
        error = error_shape(text)
        if error in seen:
            again = f"[the same error as before] {error_line(text)}"
            if byte_length(again) < byte_length(text) and not text.startswith(again[:26]):
                yield position, cut_short(slot, again, "an error that was seen before")
            continue
        if error:
            seen.add(error)
        folded = fold_lines(text)
        if byte_length(folded) < byte_length(text):
            yield position, cut_short(slot, folded, "lines of one shape folded")


def _extracted(draft: Draft, far: int, kept: frozenset[int], room: int) -> Draft:
    messages = draft.messages
    pins = pinned(messages) | kept
    old = (i for i in range(far) if i not in pins and not is_persons(messages[i]))
    parts: list[Sequence[Slot]] = []
    start = 0
    for stretch in stretches(old):
        leaving = messages[stretch.start : stretch.stop]
        extracts = digest(leaving, room)
        if all(map(is_summary, leaving)) or message_bytes(extracts) >= _size(leaving):
            continue
        sources = sources_of(draft.slots[stretch.start : stretch.stop])
        slot = Slot(extracts, Fate.SUMMARISED, sources, "in extracts, without a model")
        parts += [draft.slots[start : stretch.start], (slot,)]
        start = stretch.stop
    return replace(draft, slots=joined(*parts, draft.slots[start:]))


def _size(messages: Sequence[Message]) -> int:
    return sum(map(message_bytes, messages))


STRATEGY = Strategy(
    name="sparse",
    label="Sparse selection",
    says="Recommended for agents with many tools: no model call, and the thread is not lost.",
    loses="Middles of long outputs, repeated lines and errors; of the far past all but extracts.",
    fields=(rounds(8), _FAR, *TRIM, DIGEST),
    run=_run,
)
