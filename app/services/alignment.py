"""Before and after, side by side: what the provenance of a compaction looks like as rows.

Nothing is compared as text. A slot knows which messages it stands for and a drop knows which one
it was, so the rows follow from the draft alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from compaction.provenance import Draft, Drop, Fate, Slot

CONTEXT = 2
"""Unchanged rows that stay visible on each side of a change."""
SMALLEST_FOLD = 3
"""Fewer hidden rows than this are not worth a bar."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive input messages, shown or folded away."""

    first: int
    last: int
    """Inclusive."""
    folded: bool = False

    @property
    def count(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class Band:
    """Input messages on the left, at most one output message on the right, and their fate."""

    fate: Fate
    sources: tuple[int, ...]
    slot: int | None
    """Index into the draft's slots; None where nothing is left."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """Unchanged messages: `count` of them from input `first`, from slot `slot` on."""

    first: int
    slot: int
    count: int
    folded: bool = False


def bands(draft: Draft) -> Iterator[Band]:
    """The draft as bands in reading order: every input message and every slot exactly once.

    Neighbouring messages that were dropped for one reason are one band.
    """
    drops = sorted(draft.drops, key=lambda drop: drop.source)
    waiting = 0
    for index, slot in enumerate(draft.slots):
        if slot.sources:
            start = waiting
            while waiting < len(drops) and drops[waiting].source < slot.sources[0]:
                waiting += 1
            yield from _dropped(drops[start:waiting])
        yield Band(slot.fate, slot.sources, index, slot.reason)
    yield from _dropped(drops[waiting:])


def _dropped(drops: Sequence[Drop]) -> Iterator[Band]:
    for reason, group in groupby(drops, key=lambda drop: drop.reason):
        yield Band(Fate.DROPPED, tuple(drop.source for drop in group), None, reason)


def rows(draft: Draft, expanded: bool = False) -> list[Band | Run]:
    """The bands with unchanged ones gathered into runs, long runs folded around the changes."""
    found: list[Band | Run] = []
    every = list(bands(draft))
    position = 0
    for stretch, group in groupby(every, key=_stretch_of):
        members = list(group)
        position += len(members)
        if stretch is not None:
            at_start, at_end = not found, position == len(every)
            found.extend(_runs(members, expanded, at_start, at_end))
        else:
            found.extend(members)
    return found


def _stretch_of(band: Band) -> int | None:
    """The same number for unchanged messages that stand together on both sides; None for others.

    A result that was mended to stand behind its call is unchanged, but stands elsewhere.
    """
    if band.fate is not Fate.KEPT or band.slot is None:
        return None
    return band.sources[0] - band.slot


def _runs(members: list[Band], expanded: bool, at_start: bool, at_end: bool) -> Iterator[Run]:
    count = len(members)
    # The system message always shows; so does the newest message.
    top = 1 if at_start else CONTEXT
    bottom = 1 if at_end else CONTEXT
    hidden = count - top - bottom
    if expanded or hidden < SMALLEST_FOLD:
        yield _run(members, 0, count)
        return
    yield _run(members, 0, top)
    yield _run(members, top, top + hidden, folded=True)
    yield _run(members, top + hidden, count)


def _run(members: list[Band], start: int, stop: int, folded: bool = False) -> Run:
    first = members[start]
    assert first.slot is not None  # kept messages have a slot
    return Run(first.sources[0], first.slot, stop - start, folded)


def stretches(sources: Sequence[int], expanded: bool = False) -> list[Stretch]:
    """A band's input messages as stretches: first two, a fold, the last one."""
    found = [Stretch(first, last) for first, last in _consecutive(sources)]
    if expanded:
        return found
    return [part for stretch in found for part in _folded(stretch)]


def _consecutive(sources: Sequence[int]) -> Iterator[tuple[int, int]]:
    for _, group in groupby(enumerate(sources), key=lambda pair: pair[1] - pair[0]):
        members = [source for _, source in group]
        yield members[0], members[-1]


def _folded(stretch: Stretch) -> Iterator[Stretch]:
    hidden = stretch.count - 3
    if hidden < SMALLEST_FOLD:
        yield stretch
        return
    yield Stretch(stretch.first, stretch.first + 1)
    yield Stretch(stretch.first + 2, stretch.last - 1, folded=True)
    yield Stretch(stretch.last, stretch.last)


def slots_by_source(draft: Draft) -> dict[int, Slot]:
    """Which slot stands for each input message that left a trace."""
    return {source: slot for slot in draft.slots for source in slot.sources}
