"""Two compactions after each other as one: what the second did, told of the first one's input."""

from __future__ import annotations

from dataclasses import replace

from compaction.provenance import Draft, Drop, Fate, Slot
from compaction.runs import joined


def compose(first: Draft, second: Draft) -> Draft:
    """`second`, a draft over `first.messages`, as a draft over what `first` was made of.

    A message that one of them moved to a file stays retrievable whatever the other cut from it.
    """
    earlier = tuple(first.slots)
    slots = tuple(_through(slot, earlier) for slot in second.slots)
    drops = tuple(
        Drop(source, drop.reason)
        for drop in second.drops
        for source in earlier[drop.source].sources
    )
    return Draft(slots, joined(first.drops, drops))


def _through(slot: Slot, earlier: tuple[Slot, ...]) -> Slot:
    if slot.fate is Fate.INSERTED:
        return slot
    if slot.fate is Fate.SUMMARISED:
        sources = tuple(sorted(s for index in slot.sources for s in earlier[index].sources))
        return replace(slot, sources=sources, fate=slot.fate if sources else Fate.INSERTED)
    (index,) = slot.sources
    before = earlier[index]
    if slot.fate is Fate.KEPT:
        return replace(before, reason=before.reason or slot.reason)
    # What the first did to it says how much of the original can still be had.
    fate = slot.fate if before.fate is Fate.KEPT else before.fate
    reason = "; ".join(filter(None, (before.reason, slot.reason)))
    return replace(before, message=slot.message, fate=fate, reason=reason)
