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
from compaction.records import OffloadEntry
from compaction.result import Memory
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


def summarise(
    draft: Draft,
    wanted: Iterable[range],
    ports: Ports,
    memory: Memory,
    limits: SummaryLimits = SummaryLimits(),  # noqa: B008 - immutable
) -> Asked:
    """Every stretch in `wanted`, which rise, as one message each.

    Each summary continues the one before, and all of them together keep to `limits`. A stretch
    that is nothing but an earlier summary is left alone: there is nothing new in it.
    """
    messages = draft.messages
    parts: list[Sequence[Slot]] = []
    start, error = 0, ""
    questions = _Questions(ports, limits)
    for stretch in wanted:
        leaving = messages[stretch.start : stretch.stop]
        if all(map(is_summary, leaving)):
            continue
        try:
            message, memory = _summary_of(leaving, questions, memory)
        except Exception as failure:  # whatever a summariser raises, the session goes on
            error = str(failure) or type(failure).__name__
            continue
        sources = tuple(sorted(sources_of(draft.slots[stretch.start : stretch.stop])))
        fate = Fate.SUMMARISED if sources else Fate.INSERTED
        parts += [draft.slots[start : stretch.start], (Slot(message, fate, sources),)]
        start = stretch.stop
    slots = joined(*parts, draft.slots[start:])
    return Asked(replace(draft, slots=slots), memory, error)


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


def _summary_of(
    leaving: Sequence[Message], questions: _Questions, memory: Memory
) -> tuple[Message, Memory]:
    fresh = tuple(message for message in leaving if not is_summary(message))
    questions.leaving(fresh)
    previous, anchors = _previous(leaving, memory), _known(leaving, memory)
    text = ""
    for portion in questions.portions(fresh, previous):
        said = questions.ask(portion, previous)
        anchors = merge(anchors, said.anchors)
        text = said.text or text
        previous = previous_text(text, anchors)
    message = compaction_message(anchors, text, _references(leaving))
    if message_bytes(message) >= sum(map(message_bytes, leaving)):
        raise ValueError("the summary is no smaller than what it replaces")
    return message, replace(memory, summary=text, anchors=anchors)


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
