"""Where every message of a compacted view came from, and the law that no step may break.

A step is `Draft -> Draft`. It may replace a slot, merge slots, drop one with a reason, or insert
one. Nobody compares texts afterwards to find out what happened, so it cannot be wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

from compaction.messages import Message


class Fate(StrEnum):
    """What became of a message."""

    KEPT = "kept"
    OFFLOADED = "offloaded"
    TRIMMED = "trimmed"
    SUMMARISED = "summarised"
    DROPPED = "dropped"
    INSERTED = "inserted"


@dataclass(frozen=True, slots=True)
class Slot:
    """One message of the output, and the input messages it stands for."""

    message: Message
    fate: Fate
    sources: tuple[int, ...] = ()
    """Indices into the input, ascending."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Drop:
    """One input message that left no trace in the output."""

    source: int
    reason: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A compaction in progress: the output so far, and what was left out."""

    slots: tuple[Slot, ...]
    drops: tuple[Drop, ...] = ()

    @classmethod
    def of(cls, messages: Sequence[Message]) -> Draft:
        """The draft in which nothing has happened yet."""
        return cls(
            tuple(Slot(message, Fate.KEPT, (index,)) for index, message in enumerate(messages))
        )

    @property
    def messages(self) -> tuple[Message, ...]:
        """The output so far, without its provenance."""
        return tuple(slot.message for slot in self.slots)

    def keep(self, wanted: Sequence[bool], reason: str) -> Draft:
        """Only the slots that are `wanted`; the sources of the others become drops.

        `wanted` has one entry per slot.
        """
        kept: list[Slot] = []
        drops: list[Drop] = []
        for slot, want in zip(self.slots, wanted, strict=True):
            if want:
                kept.append(slot)
            else:
                drops.extend(Drop(source, reason) for source in slot.sources)
        return Draft(tuple(kept), self.drops + tuple(drops))

    def map(self, change: Callable[[Slot], Slot]) -> Draft:
        """Every slot replaced by what `change` makes of it."""
        return replace(self, slots=tuple(map(change, self.slots)))


def violations(draft: Draft, before: Sequence[Message]) -> list[str]:
    """Every way in which `draft` is not an account of `before`; empty when it is lawful.

    1. every input index occurs exactly once, in one slot's sources or in one drop;
    2. KEPT has one source and *is* that message; OFFLOADED and TRIMMED have one source and
       keep its role and result id;
    3. SUMMARISED has at least one source (see `Slot`); INSERTED has none;
    4. sources of surviving messages stay in order.
    """
    return [
        *_unaccounted(draft, len(before)),
        *(says for slot in draft.slots for says in _misfits(slot, before)),
        *_disorder(draft),
    ]


def _unaccounted(draft: Draft, count: int) -> list[str]:
    seen = Counter(source for slot in draft.slots for source in slot.sources)
    seen.update(drop.source for drop in draft.drops)
    return [
        f"message {index} is accounted for {seen[index]} times"
        for index in sorted(seen.keys() | set(range(count)))
        if seen[index] != 1 or not 0 <= index < count
    ]


def _misfits(slot: Slot, before: Sequence[Message]) -> list[str]:
    match slot.fate:
        case Fate.DROPPED:
            return ["a dropped message still has a slot"]
        case Fate.INSERTED:
            return [f"an inserted message claims {slot.sources}"] if slot.sources else []
        case Fate.SUMMARISED:
            return [] if slot.sources else ["a summary of nothing"]
    if len(slot.sources) != 1:
        return [f"a message that was {slot.fate} has {len(slot.sources)} sources"]
    (index,) = slot.sources
    if not 0 <= index < len(before):
        return [f"a message that was {slot.fate} has no source {index}"]
    original = before[index]
    if slot.fate is Fate.KEPT and slot.message != original:
        return [f"message {index} is called kept but was changed"]
    if (slot.message.role, slot.message.tool_call_id) != (original.role, original.tool_call_id):
        return [f"message {index} changed its role or result id"]
    return []


def _disorder(draft: Draft) -> list[str]:
    order = [source for slot in draft.slots for source in slot.sources]
    return [
        f"message {later} comes after message {earlier}"
        for earlier, later in pairwise(order)
        if later <= earlier
    ]
