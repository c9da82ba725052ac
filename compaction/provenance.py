"""Where every message of a compacted view came from, and the law that no step may break.

A step is `Draft -> Draft`. It may replace a slot, merge slots, drop one with a reason, or insert
one. Nobody compares texts afterwards to find out what happened, so it cannot be wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, pairwise
from typing import Self

from compaction.messages import Message
from compaction.runs import Run, joined, parts_of


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


class Kept(Run[Slot]):
    """Slots of messages to which nothing happened."""

    __slots__ = ("_before",)

    def __init__(self, before: Sequence[Message], indices: range) -> None:
        super().__init__(indices)
        self._before = tuple(before) if isinstance(before, list) else before

    @property
    def messages(self) -> Sequence[Message]:
        """What stands in the slots."""
        return self._before[self.indices.start : self.indices.stop : self.indices.step]

    def at(self, index: int) -> Slot:
        """The slot of one input message."""
        return Slot(self._before[index], Fate.KEPT, (index,))

    def over(self, indices: range) -> Self:
        """The slots of other input messages."""
        return type(self)(self._before, indices)


class LeftOut(Run[Drop]):
    """Input messages that were all dropped for one reason."""

    __slots__ = ("_reason",)

    def __init__(self, reason: str, indices: range) -> None:
        super().__init__(indices)
        self._reason = reason

    def at(self, index: int) -> Drop:
        """The drop of one input message."""
        return Drop(index, self._reason)

    def over(self, indices: range) -> Self:
        """The drops of other input messages."""
        return type(self)(self._reason, indices)


def sources_of(slots: Sequence[Slot]) -> tuple[int, ...]:
    """The input messages that these slots stand for, in their order."""
    return tuple(
        chain.from_iterable(
            part.indices if isinstance(part, Kept) else (s for slot in part for s in slot.sources)
            for part in parts_of(slots)
        )
    )


def dropped(slots: Sequence[Slot], reason: str) -> Sequence[Drop]:
    """The drops that tell of leaving out these slots."""
    return joined(
        *(
            LeftOut(reason, part.indices)
            if isinstance(part, Kept)
            else tuple(Drop(source, reason) for slot in part for source in slot.sources)
            for part in parts_of(slots)
        )
    )


@dataclass(frozen=True, slots=True)
class Draft:
    """A compaction in progress: the output so far, and what was left out."""

    slots: Sequence[Slot]
    drops: Sequence[Drop] = ()

    @classmethod
    def of(cls, messages: Sequence[Message]) -> Draft:
        """The draft in which nothing has happened yet."""
        return cls(Kept(messages, range(len(messages))))

    @property
    def messages(self) -> tuple[Message, ...]:
        """The output so far, without its provenance."""
        return tuple(
            chain.from_iterable(
                part.messages if isinstance(part, Kept) else (slot.message for slot in part)
                for part in parts_of(self.slots)
            )
        )

    def changes(self) -> Iterator[tuple[int, Slot]]:
        """Where something happened: the slots that are no kept message, by position."""
        position = 0
        for part in parts_of(self.slots):
            if not isinstance(part, Kept):
                yield from ((at, s) for at, s in enumerate(part, position) if s.fate != Fate.KEPT)
            position += len(part)

    def cut(self, *wanted: range, reason: str) -> Draft:
        """Only the slots at the positions in `wanted`, which rise; the others become drops."""
        ends = [0, *(end for stretch in wanted for end in (stretch.start, stretch.stop))]
        gaps = zip(ends[::2], [*ends[1::2], len(self.slots)], strict=True)
        drops = (dropped(self.slots[start:stop], reason) for start, stop in gaps)
        kept = (self.slots[stretch.start : stretch.stop] for stretch in wanted)
        return Draft(joined(*kept), joined(self.drops, *drops))

    def keep(self, wanted: Sequence[bool], reason: str) -> Draft:
        """Only the slots that are `wanted`; the sources of the others become drops.

        `wanted` has one entry per slot.
        """
        changes = [at for at, (one, next_) in enumerate(pairwise(wanted), 1) if one != next_]
        edges = [0, *changes, len(wanted)]
        stretches = (
            range(start, stop) for start, stop in pairwise(edges) if any(wanted[start:stop])
        )
        return self.cut(*stretches, reason=reason)

    def with_slots(self, changes: Mapping[int, Slot]) -> Draft:
        """Other slots at the positions in `changes`, which rise."""
        parts: list[Sequence[Slot]] = []
        start = 0
        for position, slot in changes.items():
            parts += [self.slots[start:position], (slot,)]
            start = position + 1
        return replace(self, slots=joined(*parts, self.slots[start:]))


def violations(draft: Draft, before: Sequence[Message]) -> list[str]:
    """Every way in which `draft` is not an account of `before`; empty when it is lawful.

    1. every input index occurs exactly once, in one slot's sources or in one drop;
    2. KEPT has one source and *is* that message; OFFLOADED and TRIMMED have one source and
       keep its role and result id;
    3. SUMMARISED has at least one source (see `Slot`); INSERTED has none;
    4. sources of surviving messages stay in order; a tool result alone may move, from wherever it
       stood after its call to directly behind it, or with it into a summary.
    """
    return [
        *_unaccounted(draft, len(before)),
        *(says for slot in draft.slots for says in _misfits(slot, before)),
        *_disorder(draft, before),
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


def _disorder(draft: Draft, before: Sequence[Message]) -> list[str]:
    order = [
        source
        for slot in _unmoved(draft.slots)
        for source in slot.sources
        # A result may have moved to its call before a summary took both.
        if slot.fate is not Fate.SUMMARISED or not _is_result(before, source)
    ]
    return [
        f"message {later} comes after message {earlier}"
        for earlier, later in pairwise(order)
        if later <= earlier
    ]


def _is_result(before: Sequence[Message], index: int) -> bool:
    return 0 <= index < len(before) and before[index].is_tool_result


def _unmoved(slots: Sequence[Slot]) -> Iterator[Slot]:
    """The slots that must stand in order: all but the results directly behind their own call."""
    waiting: Counter[str] = Counter()
    called_at: tuple[int, ...] = ()
    for slot in slots:
        message = slot.message
        came_later = slot.sources > called_at or not slot.sources
        if waiting[message.tool_call_id] > 0 and came_later:
            waiting[message.tool_call_id] -= 1
            continue
        calls = message.tool_calls if message.role == "assistant" else ()
        waiting = Counter(call.id for call in calls if call.id)
        called_at = slot.sources
        yield slot
