"""Asking a summariser for parts of a conversation, with its answers checked and its cost counted.

A summary counts only if it says something and is smaller than what it replaces; anything else is a
failure, and the messages stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from compaction.anchors import Summary, merge, parse_summary, says_nothing
from compaction.messages import Message
from compaction.ports import Ports, Summariser
from compaction.provenance import Draft, Fate, Slot, sources_of
from compaction.result import Memory
from compaction.rounds import is_summary
from compaction.runs import joined
from compaction.summary import COMPACTION_MARKER, SummaryRequest, compaction_message, previous_text
from compaction.tokens import message_bytes
from compaction.utf8 import byte_length


@dataclass(slots=True)
class Counting:
    """A summariser that keeps count of what another is asked."""

    summariser: Summariser | None
    calls: int = 0
    sent_bytes: int = 0

    @classmethod
    def within(cls, ports: Ports) -> tuple[Ports, Counting]:
        """The same ports with their summariser counted. Without a summariser nothing is."""
        counting = cls(ports.summariser)
        return replace(ports, summariser=counting if ports.summariser else None), counting

    def summarise(self, request: SummaryRequest) -> Message | None:
        """Pass the request on."""
        self.calls += 1
        self.sent_bytes += byte_length(request.system_prompt) + byte_length(request.user_prompt)
        return self.summariser.summarise(request) if self.summariser else None


@dataclass(frozen=True, slots=True)
class Asked:
    """A draft with stretches of it summarised, as far as that worked."""

    draft: Draft
    memory: Memory
    error: str = ""


def stretches(positions: Iterable[int]) -> Iterator[range]:
    """Rising positions as ranges without gaps."""
    for _, group in groupby(enumerate(positions), lambda pair: pair[1] - pair[0]):
        run = [position for _, position in group]
        yield range(run[0], run[-1] + 1)


def summarise(draft: Draft, wanted: Iterable[range], ports: Ports, memory: Memory) -> Asked:
    """Every stretch in `wanted`, which rise, as one message each.

    Each summary continues the one before. A stretch that is nothing but an earlier summary is left
    alone: there is nothing new in it.
    """
    messages = draft.messages
    parts: list[Sequence[Slot]] = []
    start, error = 0, ""
    for stretch in wanted:
        leaving = messages[stretch.start : stretch.stop]
        if all(map(is_summary, leaving)):
            continue
        try:
            message, memory = _summary_of(leaving, ports, memory)
        except Exception as failure:  # whatever a summariser raises, the session goes on
            error = str(failure) or type(failure).__name__
            continue
        sources = sources_of(draft.slots[stretch.start : stretch.stop])
        fate = Fate.SUMMARISED if sources else Fate.INSERTED
        parts += [draft.slots[start : stretch.start], (Slot(message, fate, sources),)]
        start = stretch.stop
    slots = joined(*parts, draft.slots[start:])
    return Asked(replace(draft, slots=slots), memory, error)


def _summary_of(leaving: Sequence[Message], ports: Ports, memory: Memory) -> tuple[Message, Memory]:
    if ports.summariser is None:
        raise LookupError("there is no summariser")
    fresh = tuple(message for message in leaving if not is_summary(message))
    ports.on_leaving(fresh)
    previous = _previous(leaving, memory)
    answer = ports.summariser.summarise(SummaryRequest(fresh, previous))
    if answer is None or not answer.content.strip():
        raise ValueError("the summary is empty")
    said = _said(answer.content)
    anchors = merge(memory.anchors or (), [a for a in said.anchors if not says_nothing(a.content)])
    message = compaction_message(anchors, said.text, ())
    if message_bytes(message) >= sum(map(message_bytes, leaving)):
        raise ValueError("the summary is no smaller than what it replaces")
    return message, replace(memory, summary=said.text, anchors=anchors)


def _previous(leaving: Sequence[Message], memory: Memory) -> str:
    remembered = previous_text(memory.summary, memory.anchors or ())
    if remembered:
        return remembered
    # After a restart: the summary that stands in the conversation is all there is.
    earlier = [message.content for message in leaving if is_summary(message)]
    return earlier[-1].removeprefix(COMPACTION_MARKER).strip() if earlier else ""


def _said(answer: str) -> Summary:
    said = parse_summary(answer)
    if said.text or not all(anchor.is_absent for anchor in said.anchors):
        return said
    return Summary(said.anchors, answer.strip())
