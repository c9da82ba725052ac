"""Asking a summariser for parts of a conversation, with its answers checked and its cost counted.

A summary counts only if it says something and is smaller than what it replaces; anything else is a
failure, and the messages stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from compaction.anchors import Anchor, Summary, merge
from compaction.answers import read_answer, read_summary
from compaction.messages import Message
from compaction.placeholder import parse_placeholder
from compaction.portions import portions
from compaction.ports import Ports, Summariser
from compaction.provenance import Draft, Fate, Slot, sources_of
from compaction.recognition import Stretch, digest, read_stretch
from compaction.records import OffloadEntry
from compaction.result import Memory, Said
from compaction.rounds import is_summary
from compaction.runs import joined
from compaction.settings import SummaryLimits
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


def recalled(
    draft: Draft, wanted: Iterable[range], before: Sequence[Message], memory: Memory
) -> Draft:
    """The draft, made of `before`, with earlier summaries where they stand for what is `wanted`.

    Nobody is asked. Stretches of which nothing was said, or that would not become smaller, stay.
    """
    parts: list[Sequence[Slot]] = []
    start = 0
    for each in wanted:
        stretch = read_stretch(draft.slots[each.start : each.stop], before, memory.said)
        if stretch.known is None:
            continue
        covered = stretch.slots[: stretch.covered]
        message = _written(stretch.known, stretch.messages[: stretch.covered])
        if message is not None:
            parts += [draft.slots[start : each.start], (_summary_slot(message, covered),)]
            start = each.start + stretch.covered
    return replace(draft, slots=joined(*parts, draft.slots[start:]))


def summarise(
    draft: Draft,
    wanted: Iterable[range],
    before: Sequence[Message],
    ports: Ports,
    memory: Memory,
    limits: SummaryLimits,
) -> Asked:
    """Every stretch in `wanted`, which rise, of a draft made of `before` as one message each.

    Each summary continues the one before, and all of them together keep to `limits`. A stretch
    that is nothing but an earlier summary is left alone: there is nothing new in it. Nor is the
    model asked again about messages that it has summarised.
    """
    parts: list[Sequence[Slot]] = []
    start, error = 0, ""
    questions = _Questions(ports, limits)
    for each in wanted:
        slots = draft.slots[each.start : each.stop]
        if all(is_summary(slot.message) for slot in slots):
            continue
        try:
            stretch = read_stretch(slots, before, memory.said)
            message, memory = _summary_of(stretch, questions, memory)
        except Exception as failure:  # whatever a summariser raises, the session goes on
            error = str(failure) or type(failure).__name__
            continue
        parts += [draft.slots[start : each.start], (_summary_slot(message, slots),)]
        start = each.stop
    slots = joined(*parts, draft.slots[start:])
    return Asked(replace(draft, slots=slots), memory, error)


def _summary_slot(message: Message, slots: Sequence[Slot]) -> Slot:
    sources = tuple(sorted(sources_of(slots)))
    return Slot(message, Fate.SUMMARISED if sources else Fate.INSERTED, sources)


class _Questions:
    """What may still be asked: so many questions of such a size, until a moment."""

    def __init__(self, ports: Ports, limits: SummaryLimits) -> None:
        self._ports = ports
        self._limits = limits
        self._left = limits.calls
        self._end = ports.nanoseconds() + int(limits.seconds * 1e9)

    def leaving(self, messages: Sequence[Message]) -> None:
        """Say what is about to be summarised."""
        self._ports.on_leaving(messages)

    def portions(self, messages: Sequence[Message], previous: str) -> list[tuple[Message, ...]]:
        """The messages in as many questions as are left. Raises TimeoutError where none is."""
        if not messages:
            return []
        if self._left <= 0:
            raise TimeoutError(f"{self._limits.calls} questions were asked already")
        # What is said so far may grow while it is continued.
        room = self._limits.input_bytes - 2 * _size(SummaryRequest((), previous))
        if room <= 0:
            raise ValueError("the limit of a question leaves no room for the conversation")
        return portions(messages, room, self._left)

    def ask(self, messages: tuple[Message, ...], previous: str) -> Summary:
        """One question, and its answer checked. Raises whatever the summariser does."""
        if self._ports.summariser is None:
            raise LookupError("there is no summariser")
        if self._ports.cancelled():
            raise InterruptedError("the summary was cancelled")
        if self._ports.nanoseconds() > self._end:
            raise TimeoutError(f"no summary within {self._limits.seconds:g} s")
        request = SummaryRequest(messages, previous)
        if _size(request) > self._limits.input_bytes:
            raise ValueError("the text to summarise is too long, however it is cut")
        self._left -= 1
        return read_answer(self._ports.summariser.summarise(request))


def _size(request: SummaryRequest) -> int:
    return byte_length(request.system_prompt) + byte_length(request.user_prompt)


_MOST_SAID = 8
"""Summaries that are remembered with what they stand for; a conversation has one per stretch."""


def _summary_of(stretch: Stretch, questions: _Questions, memory: Memory) -> tuple[Message, Memory]:
    leaving, known = stretch.messages, stretch.known
    questions.leaving(_fresh(leaving))
    if known is None:
        text, anchors, previous = "", _known(leaving, memory), _previous(leaving, memory)
    else:
        text, anchors = known.text, known.anchors
        previous = previous_text(text, anchors)
    for portion in questions.portions(_fresh(stretch.news), previous):
        answer = questions.ask(portion, previous)
        anchors = merge(anchors, answer.anchors)
        text = answer.text or text
        previous = previous_text(text, anchors)
    sources = stretch.sources
    said = Said(len(sources), digest(sources[:1]), digest(sources), text, anchors)
    message = _written(said, leaving)
    if message is None:
        raise ValueError("the summary is no smaller than what it replaces")
    kept = (*(one for one in memory.said if one != known), said)[-_MOST_SAID:]
    return message, replace(memory, summary=text, anchors=anchors, said=kept)


def _written(said: Said, leaving: Sequence[Message]) -> Message | None:
    """What stands for the messages; None where that would be no smaller than they are."""
    message = compaction_message(said.anchors, said.text, _references(leaving))
    return message if message_bytes(message) < sum(map(message_bytes, leaving)) else None


def _fresh(messages: Iterable[Message]) -> tuple[Message, ...]:
    return tuple(message for message in messages if not is_summary(message))


def _known(leaving: Sequence[Message], memory: Memory) -> tuple[Anchor, ...]:
    """The anchors so far; after a restart, those of the summary in the conversation."""
    if memory.anchors is not None:
        return memory.anchors
    earlier = [message.content for message in leaving if is_summary(message)]
    return read_summary(earlier[-1]).anchors if earlier else ()


_REFERENCE = re.compile(
    r"^- (?P<path>\S.*) \((?P<lines>\d{1,18})行\) - offloaded tool result$", re.MULTILINE
)
_MOST_REFERENCES = 50


def _references(leaving: Iterable[Message]) -> Sequence[OffloadEntry]:
    """The files that stand for results among these messages, and those an earlier summary names."""
    found: dict[str, OffloadEntry] = {}
    for message in leaving:
        if is_summary(message):
            for match in _REFERENCE.finditer(message.content):
                found[match["path"]] = OffloadEntry("", "", match["path"], 0, int(match["lines"]))
        elif message.is_tool_result:
            moved = parse_placeholder(message.content)
            if moved is not None:
                found[moved.path] = OffloadEntry("", "", moved.path, moved.bytes, moved.lines)
    return list(found.values())[-_MOST_REFERENCES:]


def _previous(leaving: Sequence[Message], memory: Memory) -> str:
    remembered = previous_text(memory.summary, memory.anchors or ())
    if remembered:
        return remembered
    # After a restart: the summary that stands in the conversation is all there is.
    earlier = [message.content for message in leaving if is_summary(message)]
    return earlier[-1].removeprefix(COMPACTION_MARKER).strip() if earlier else ""
