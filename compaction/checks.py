"""What must hold after any compaction: the view is valid, smaller, and loses nobody's word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from compaction.messages import Message
from compaction.outcomes import size
from compaction.pairs import broken_pairs, mend
from compaction.provenance import Draft, Fate, violations
from compaction.rounds import is_persons, recent_from


class Rule(StrEnum):
    """What a compaction can break."""

    LAW = "provenance"
    """Every message is accounted for."""
    PAIRS = "pairs"
    """Every result stands directly behind its call."""
    SYSTEM = "system"
    """The system message is first, word for word."""
    PEOPLE = "people"
    """The task and the newest human line are there, word for word, the latter last."""
    SHRINK = "smaller"
    """The conversation is smaller."""
    SAVING = "saving"
    """It is clearly smaller: by the share that was asked for."""
    ROUNDS = "rounds"
    """The newest rounds are as they were."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that the outcome of a strategy broke."""

    rule: Rule
    says: str
    strategy: str
    """Whose outcome it was."""


@dataclass(frozen=True, slots=True)
class Checks:
    """How much is asked of a compaction beyond being valid."""

    saving: float = 0.05
    """The share of the tokens that must go."""
    rounds: int = 2
    """The newest model calls, with their results, that must be as they were."""


def check(draft: Draft, before: Sequence[Message], checks: Checks) -> list[tuple[Rule, str]]:
    """Every rule that `draft`, made of `before`, breaks, with what breaks it."""
    return [
        *((Rule.LAW, says) for says in violations(draft, before)),
        *((Rule.PAIRS, says) for says in broken_pairs(draft.messages)),
        *_people(draft, before),
        *_saving(draft, before, checks.saving),
        *_rounds(draft, before, checks.rounds),
    ]


def _kept(draft: Draft) -> set[int]:
    return {s for slot in draft.slots if slot.fate is Fate.KEPT for s in slot.sources}


def _people(draft: Draft, before: Sequence[Message]) -> Iterator[tuple[Rule, str]]:
    kept = _kept(draft)
    if before and before[0].is_system and (0 not in kept or draft.slots[0].sources != (0,)):
        yield Rule.SYSTEM, "the system message is not kept"
    persons = [index for index, message in enumerate(before) if is_persons(message)]
    if persons and persons[0] not in kept:
        yield Rule.PEOPLE, "the task, the person's first line, is not kept"
    if persons and persons[-1] not in kept:
        yield Rule.PEOPLE, "the newest human line is not kept"


def _saving(draft: Draft, before: Sequence[Message], share: float) -> Iterator[tuple[Rule, str]]:
    was, now = size(mend(Draft.of(before)).messages), size(draft.messages)
    if now >= was:
        yield Rule.SHRINK, f"{was:,} bytes became {now:,}"
    elif now > was * (1 - share):
        yield Rule.SAVING, f"{1 - now / was:.1%} were saved, {share:.0%} were asked for"


def _rounds(draft: Draft, before: Sequence[Message], rounds: int) -> Iterator[tuple[Rule, str]]:
    kept, results = _kept(draft), {slot.message for slot in draft.slots}
    changed = [
        index
        for index in range(recent_from(before, rounds), len(before))
        if index not in kept and before[index] not in results
    ]
    if changed:
        yield Rule.ROUNDS, f"{len(changed)} messages of the newest {rounds} rounds were changed"
