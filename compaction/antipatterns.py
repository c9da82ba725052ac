"""What goes wrong with compaction in practice: each rule a pure function, with evidence and advice.

Some look at settings, some at a session's messages, some at what its compactions recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby, pairwise

from compaction.anchors import HEADINGS, says_nothing
from compaction.embedding import HashedNgrams, similarity
from compaction.messages import Message
from compaction.placeholder import parse_placeholder
from compaction.records import CompactionRecord
from compaction.rules import ForcedCut
from compaction.settings import Settings
from compaction.tiers import Tier
from compaction.tokens import message_bytes
from compaction.utf8 import byte_length


class Severity(StrEnum):
    """How bad it is."""

    ERROR = "error"
    """Something was lost, or will be."""
    WARNING = "warning"
    """It costs money or quality."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One anti-pattern, found."""

    rule: str
    severity: Severity
    says: str
    """The evidence, in one sentence."""
    advice: str
    where: tuple[int, ...] = ()
    """Compactions, 1-based, or messages, as `of` says."""
    of: str = ""
    """`compaction` or `message`; empty for settings."""


Records = Sequence[CompactionRecord]
LATE, TOO_LATE = 0.90, 0.98
FEW_MESSAGES = 4
"""Fewer messages than this are less than two rounds."""
LARGE_RESULT = 10_000
"""Bytes."""
_SUMMARISES = (Tier.SOFT, Tier.FULL)


def in_settings(settings: Settings) -> list[Problem]:
    """What is wrong with settings, whatever the session."""
    return [*_late(settings), *_short_tail(settings), *_cuts_the_task(settings)]


def in_messages(messages: Sequence[Message]) -> list[Problem]:
    """What is wrong with a conversation as it would be sent; the system message may be missing."""
    return [*_broken_pairs(messages), *_large_results(messages)]


def in_records(records: Records) -> list[Problem]:
    """What a session's compactions did wrong, oldest first within each rule."""
    return [problem for rule in _RULES for problem in rule(records)]


def in_session(messages: Sequence[Message], records: Records) -> list[Problem]:
    """What only shows in messages and records together."""
    summarised = [n for n, record in _numbered(records) if record.summarized and not record.error]
    total = sum(map(message_bytes, messages))
    tools = sum(message_bytes(message) for message in messages if message.is_tool_result)
    if len(summarised) < 2 or any(record.offloaded for record in records) or tools < 0.6 * total:
        return []
    return [
        Problem(
            "rolling-summary-for-tools",
            Severity.WARNING,
            f"{tools * 100 // total} % of the session is tool output, and {len(summarised)} "
            "compactions did nothing about it but summarise.",
            "Offload or trim tool results first; summaries lose parameters and paths.",
            tuple(summarised),
            "compaction",
        )
    ]


def _late(settings: Settings) -> Iterator[Problem]:
    first = min(settings.soft, settings.full)
    if first >= LATE:
        yield Problem(
            "late-trigger",
            Severity.ERROR if first >= TOO_LATE else Severity.WARNING,
            f"Nothing is summarised before the window is {first:.0%} full.",
            "Start at about 70 %: the summary and the next answer need room.",
        )


def _short_tail(settings: Settings) -> Iterator[Problem]:
    if settings.tail < FEW_MESSAGES:
        yield Problem(
            "recent-rounds-summarised",
            Severity.WARNING,
            f"Only the newest {settings.tail} messages are kept word for word.",
            "Keep six to eight rounds: the model is in the middle of them.",
        )


def _cuts_the_task(settings: Settings) -> Iterator[Problem]:
    if settings.rules.forced_cut is ForcedCut.NEWEST:
        yield Problem(
            "task-cut-off",
            Severity.WARNING,
            f"At Emergency the rule book {settings.rules.name} keeps the system message and one "
            "more; the task is gone.",
            "Use a rule book that keeps the task.",
        )


def _broken_pairs(messages: Sequence[Message]) -> Iterator[Problem]:
    broken = tuple(_unpaired(messages))
    if broken:
        yield Problem(
            "pairs-broken",
            Severity.ERROR,
            f"{len(broken)} messages call tools whose results do not come next, or answer calls "
            "that do not come before.",
            "Mend the pairs by position before sending; providers refuse such a list.",
            broken,
            "message",
        )


def _unpaired(messages: Sequence[Message]) -> Iterator[int]:
    """Positions, 1-based, of calls without their results right after them, and the reverse.

    Calls at the very end may still be running.
    """
    open_ids: set[str] = set()
    caller = 0
    for number, message in enumerate(messages, start=1):
        if message.is_tool_result:
            if message.tool_call_id not in open_ids:
                yield number
            open_ids.discard(message.tool_call_id)
            continue
        if open_ids:
            yield caller
        open_ids, caller = {call.id for call in message.tool_calls}, number


def _large_results(messages: Sequence[Message]) -> Iterator[Problem]:
    large = {
        number: byte_length(message.content)
        for number, message in enumerate(messages, start=1)
        if message.is_tool_result
        and byte_length(message.content) > LARGE_RESULT
        and parse_placeholder(message.content) is None
    }
    if large:
        yield Problem(
            "large-results-in-view",
            Severity.WARNING,
            f"{len(large)} tool results of more than {LARGE_RESULT:,} bytes stand in full, "
            f"{sum(large.values()):,} bytes together.",
            "Save what is that long to a file and show its beginning and end.",
            tuple(large),
            "message",
        )


def _numbered(records: Records) -> Iterator[tuple[int, CompactionRecord]]:
    return enumerate(records, start=1)


def _grew(records: Records) -> Iterator[Problem]:
    for number, record in _numbered(records):
        if record.summarized and record.tokens_after >= record.tokens_before:
            yield Problem(
                "larger-afterwards",
                Severity.ERROR,
                f"{record.tokens_before:,} tokens became {record.tokens_after:,}.",
                "Refuse a compaction that does not make things smaller.",
                (number,),
                "compaction",
            )


def _summarised_recent(records: Records) -> Iterator[Problem]:
    numbers = tuple(
        number
        for number, record in _numbered(records)
        if record.tier in _SUMMARISES and record.summarized and record.preserved_tail < FEW_MESSAGES
    )
    if numbers:
        yield Problem(
            "recent-rounds-summarised",
            Severity.WARNING,
            f"{len(numbers)} compactions left fewer than {FEW_MESSAGES} messages word for word.",
            "Keep six to eight rounds: the model is in the middle of them.",
            numbers,
            "compaction",
        )


def _task_gone(records: Records) -> Iterator[Problem]:
    numbers = tuple(
        number
        for number, record in _numbered(records)
        if record.tier == Tier.EMERGENCY and record.msgs_after <= 2 < record.msgs_before
    )
    if numbers:
        yield Problem(
            "task-cut-off",
            Severity.ERROR,
            f"{len(numbers)} compactions left two messages or fewer: the task was not among them.",
            "Keep the system message, the task and the newest human line at every tier.",
            numbers,
            "compaction",
        )


def _emergencies(records: Records) -> Iterator[Problem]:
    for first, last in _runs(records, lambda record: record.tier == Tier.EMERGENCY):
        if last - first >= 2:
            yield Problem(
                "emergency-loop",
                Severity.ERROR,
                f"{last - first + 1} Emergencies in a row: each cut left the window nearly full.",
                "See what fills it: the system prompt, the tools, or one message.",
                tuple(range(first, last + 1)),
                "compaction",
            )


def _runs(
    records: Records, belongs: Callable[[CompactionRecord], bool]
) -> Iterator[tuple[int, int]]:
    for wanted, group in groupby(_numbered(records), lambda pair: belongs(pair[1])):
        if wanted:
            numbers = [number for number, _ in group]
            yield numbers[0], numbers[-1]


def _every_turn(records: Records) -> Iterator[Problem]:
    again = [
        later.tier in _SUMMARISES
        and earlier.tier in _SUMMARISES
        and abs(later.tokens_before - earlier.tokens_before) <= 0.02 * earlier.tokens_before
        for earlier, later in pairwise(records)
    ]
    for wanted, group in groupby(enumerate(again, start=1), lambda pair: pair[1]):
        numbers = [number for number, _ in group]
        if wanted and len(numbers) >= 4:
            yield Problem(
                "compacted-every-turn",
                Severity.WARNING,
                f"{len(numbers) + 1} summaries in a row, each of nearly the same conversation.",
                "Write the compacted list back, or compact further at once.",
                (*numbers, numbers[-1] + 1),
                "compaction",
            )


def _oscillation(records: Records) -> Iterator[Problem]:
    turns = [
        number
        for number, (a, b, c) in enumerate(zip(records, records[1:], records[2:], strict=False), 2)
        if (b.tier - a.tier) * (c.tier - b.tier) < 0
    ]
    if len(turns) >= 4:
        yield Problem(
            "oscillation",
            Severity.WARNING,
            f"The tier went up and down {len(turns)} times.",
            "Compact well below the threshold that was crossed, not just under it.",
            tuple(turns),
            "compaction",
        )


def _with_anchors(records: Records) -> list[tuple[int, dict[str, str]]]:
    return [
        (number, {anchor.kind: anchor.content for anchor in record.anchors})
        for number, record in _numbered(records)
        if record.anchors
    ]


def _erased(records: Records) -> Iterator[Problem]:
    for (_, before), (number, after) in pairwise(_with_anchors(records)):
        for kind, heading in HEADINGS.items():
            was, now = before.get(kind, ""), after.get(kind, "")
            if not says_nothing(was) and says_nothing(now):
                yield Problem(
                    "anchor-erased",
                    Severity.ERROR,
                    f"{heading} said something and then “{now.strip() or 'nothing'}”.",
                    "Take any dress of “nothing applies” for no change.",
                    (number,),
                    "compaction",
                )


_DRIFTED = 0.15


def _drift(records: Records) -> Iterator[Problem]:
    intents = [(n, a.get("user_intent", "")) for n, a in _with_anchors(records)]
    intents = [(number, text) for number, text in intents if not says_nothing(text)]
    vectors = HashedNgrams().embed([text for _, text in intents])
    for index in range(1, len(intents)):
        if similarity(vectors[0], vectors[index]) < _DRIFTED:
            yield Problem(
                "intent-drift",
                Severity.WARNING,
                "The user's intent has hardly a word in common with the first one recorded.",
                "Keep the person's first line word for word beside the summary.",
                (intents[index][0],),
                "compaction",
            )
            return


def _offloaded_again(records: Records) -> Iterator[Problem]:
    sizes: dict[str, tuple[int, int]] = {}
    for number, record in _numbered(records):
        for entry in record.offloaded or ():
            first, size = sizes.setdefault(entry.file_path, (number, entry.bytes))
            if entry.bytes < size:
                yield Problem(
                    "placeholder-offloaded",
                    Severity.ERROR,
                    f"{entry.file_path} held {size:,} bytes and was written again with "
                    f"{entry.bytes:,}: a placeholder over its own original.",
                    "Never offload a placeholder.",
                    (first, number),
                    "compaction",
                )


def _does_not_add_up(records: Records) -> Iterator[Problem]:
    for number, record in _numbered(records):
        ratio = record.tokens_after / record.tokens_before if record.tokens_before else 0.0
        if abs(ratio - record.compression_ratio) > 0.005:
            yield Problem(
                "record-does-not-add-up",
                Severity.WARNING,
                f"The ratio is said to be {record.compression_ratio:.3f}, but its tokens make "
                f"{ratio:.3f}.",
                "Take the record's figures with care.",
                (number,),
                "compaction",
            )


_RULES: tuple[Callable[[Records], Iterator[Problem]], ...] = (
    _grew,
    _summarised_recent,
    _task_gone,
    _emergencies,
    _every_turn,
    _oscillation,
    _erased,
    _drift,
    _offloaded_again,
    _does_not_add_up,
)
