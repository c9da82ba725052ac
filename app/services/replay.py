"""A session call by call under chosen settings, beside what was recorded; in memory only.

Where nothing is changed, this is the proof of the engine: harness9 is called as it was then, with
the summaries it got then, and every record has to come out again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from app.llm.failures import NothingRecorded
from app.llm.offline import OfflineSummariser
from app.services.compactions import stand_in
from app.services.recompact import Choice, Writer
from app.sources.model import Generation, Session
from app.sources.tool_results import Original
from compaction.anchors import render
from compaction.messages import Message
from compaction.placeholder import Gate, parse_placeholder
from compaction.ports import MemoryOffloads, Ports
from compaction.records import CompactionRecord
from compaction.summary import SummaryRequest
from compaction.tiers import Tier
from compaction.turns import Turn, call_positions, replay

OriginalOf = Callable[[Message], Original | None]
"""The text that a placeholder stands for, where it is still there."""
_ASKED = (Tier.SOFT, Tier.FULL)


@dataclass(frozen=True, slots=True)
class Match:
    """One compaction of the replay, of the record, or of both."""

    turn: Turn | None
    """None where the record has one and the replay has none."""
    n: int | None
    """Number of the recorded compaction, 1-based."""
    recorded: CompactionRecord | None

    @property
    def ours(self) -> CompactionRecord | None:
        """What the replay would have recorded."""
        return self.turn.result.record if self.turn and self.turn.result else None

    @property
    def differs(self) -> tuple[str, ...]:
        """The counts in which the two differ; empty also where there is only one of them."""
        ours, recorded = self.ours, self.recorded
        if ours is None or recorded is None:
            return ()
        return tuple(
            name for name, value in counts(ours).items() if value != counts(recorded)[name]
        )


@dataclass(frozen=True, slots=True)
class Replayed:
    """A whole session replayed."""

    calls: int
    matches: tuple[Match, ...]
    """In the order of the calls."""
    put_back: int
    """Offloaded results whose full text was put back first."""
    missing: int
    """Offloaded results that stay placeholders, since the full text is gone."""

    @property
    def exact(self) -> int:
        """Recorded compactions that came out with every count the same."""
        return sum(1 for match in self.matches if match.ours and match.n and not match.differs)


def counts(record: CompactionRecord) -> dict[str, object]:
    """Everything that a replay has to meet; ids, times and durations are each run's own."""
    return {
        "tier": record.tier,
        "tokens_before": record.tokens_before,
        "tokens_after": record.tokens_after,
        "msgs_before": record.msgs_before,
        "msgs_after": record.msgs_after,
        "summarized": record.summarized,
        "preserved_tail": record.preserved_tail,
        "offloaded": len(record.offloaded or ()),
        "failed": bool(record.error),
    }


def replayed(
    session: Session, choice: Choice, original_of: OriginalOf, report: Callable[[int], None]
) -> Replayed:
    """Every model call of the stored session, compacted as chosen.

    `report` is told the number of each call that is done with, and may raise to cancel.
    """
    records = session.records.records
    history = _History.of(session.messages, original_of)
    system = Message("system", stand_in(choice.system_bytes))
    turns = []
    for turn in replay(system, history.messages, choice.settings, _ports(choice, records)):
        if turn.result is not None and turn.result.record.tier != Tier.NONE:
            turns.append(turn)
        report(turn.number)
    calls = len(call_positions(history.messages))
    is_whole = session.generation is Generation.VIEW
    matches = _matched(turns, records, _at_position if is_whole else _of_size)
    return Replayed(calls, tuple(matches), history.put_back, history.missing)


def _ports(choice: Choice, records: Sequence[CompactionRecord]) -> Ports:
    offloads = MemoryOffloads()
    if choice.writer is Writer.RECORDED:
        told = _InTurn(records)
        return Ports(told, offloads, on_leaving=told.leaving)
    return Ports(OfflineSummariser() if choice.writer is Writer.OFFLINE else None, offloads)


class _InTurn:
    """A `compaction.Summariser` that gives the recorded summaries in their order, each only to as
    many messages as it stands for, and fails where the recorded compaction failed."""

    name = "recorded"

    def __init__(self, records: Sequence[CompactionRecord]) -> None:
        self._records = deque(record for record in records if record.tier in _ASKED)
        self._leaving = 0

    def leaving(self, messages: Sequence[Message]) -> None:
        """How many messages are about to be summarised."""
        self._leaving = len(messages)

    def summarise(self, request: SummaryRequest) -> Message:  # noqa: ARG002 - see `leaving`
        """The next recorded summary. Raises NothingRecorded where there is none for these."""
        if not self._records:
            raise NothingRecorded("no further summary was recorded")
        record = self._records[0]
        if not record.error and record.summarized != self._leaving:
            raise NothingRecorded(
                f"the next recorded summary stands for {record.summarized} messages, "
                f"not for {self._leaving}"
            )
        self._records.popleft()
        if record.error:
            raise NothingRecorded(record.error)
        anchors = render(record.anchors or ())
        return Message("assistant", f"## Anchors\n\n{anchors}\n\n## Summary\n{record.summary_text}")


@dataclass(frozen=True, slots=True)
class _History:
    """Stored messages as they were before compactions moved results to files."""

    messages: tuple[Message, ...]
    put_back: int
    missing: int

    @classmethod
    def of(cls, stored: Sequence[Message], original_of: OriginalOf) -> _History:
        texts = [_original(message, original_of) for message in stored]
        whole = tuple(
            replace(message, content=text) if text else message
            for message, text in zip(stored, texts, strict=True)
        )
        return cls(whole, sum(1 for text in texts if text), texts.count(""))


def _original(message: Message, original_of: OriginalOf) -> str | None:
    """The full text; empty where it is gone, None where the message was never moved."""
    found = parse_placeholder(message.content) if message.is_tool_result else None
    if found is None or found.gate is not Gate.COMPACTION:
        return None
    original = original_of(message)
    return original.text or "" if original else ""


Occasion = Callable[[CompactionRecord, Turn | None], tuple[int, ...]]
"""What tells that two compactions are of the same call; the turn is None for a recorded one."""


def _at_position(record: CompactionRecord, turn: Turn | None) -> tuple[int, ...]:
    """Of a session that is stored whole: how many messages there had been, whatever of them was
    still in view."""
    return (turn.position + 1 if turn else record.msgs_before,)


def _of_size(record: CompactionRecord, _turn: Turn | None) -> tuple[int, ...]:
    """Of a session that was written back: how large the conversation was."""
    return record.msgs_before, record.tokens_before


def _matched(
    turns: Sequence[Turn], records: Sequence[CompactionRecord], occasion: Occasion
) -> Iterator[Match]:
    """Compactions of the same call side by side, the others alone, in the order of the calls."""
    ours = [occasion(turn.result.record, turn) for turn in turns if turn.result]
    theirs = [occasion(record, None) for record in records]
    opcodes = SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    for kind, i, i_end, j, j_end in opcodes:
        if kind == "equal":
            for turn, n in zip(turns[i:i_end], range(j, j_end), strict=True):
                yield Match(turn, n + 1, records[n])
            continue
        alone = [(ours[k], Match(turns[k], None, None)) for k in range(i, i_end)]
        alone += [(theirs[n], Match(None, n + 1, records[n])) for n in range(j, j_end)]
        if occasion is _at_position:
            alone.sort(key=lambda one: one[0])
        yield from (match for _at, match in alone)
