from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.services.alignment import Band, Run, Stretch, bands, rows, stretches
from compaction.messages import Message
from compaction.provenance import Draft, Drop, Fate, Slot


def draft_of(*fates: str) -> Draft:
    """One letter a message: k kept, d dropped, s summarised with its neighbours, i inserted."""
    slots: list[Slot] = []
    drops: list[Drop] = []
    source = 0
    for fate in fates:
        if fate == "i":
            slots.append(Slot(Message("user", "new"), Fate.INSERTED))
            continue
        if fate == "d":
            drops.append(Drop(source, "too old"))
        elif fate == "s" and slots and slots[-1].fate is Fate.SUMMARISED:
            last = slots.pop()
            slots.append(Slot(last.message, Fate.SUMMARISED, (*last.sources, source)))
        elif fate == "s":
            slots.append(Slot(Message("user", "summary"), Fate.SUMMARISED, (source,)))
        else:
            slots.append(Slot(Message("user", str(source)), Fate.KEPT, (source,)))
        source += 1
    return Draft(tuple(slots), tuple(drops))


@given(st.lists(st.sampled_from("kkkdsi"), max_size=60))
def test_every_message_and_every_slot_stands_in_exactly_one_band(fates: list[str]) -> None:
    draft = draft_of(*fates)

    found = list(bands(draft))

    sources = sorted(source for band in found for source in band.sources)
    slots = [band.slot for band in found if band.slot is not None]
    assert sources == list(range(sum(fate != "i" for fate in fates)))
    assert slots == list(range(len(draft.slots)))


@given(st.lists(st.sampled_from("kkkkkdsi"), max_size=60), st.booleans())
def test_rows_hide_messages_but_never_lose_one(fates: list[str], expanded: bool) -> None:
    draft = draft_of(*fates)

    found = rows(draft, expanded)

    count = sum(part.count if isinstance(part, Run) else len(part.sources) for part in found)
    assert count == sum(fate != "i" for fate in fates)
    assert not (expanded and any(isinstance(part, Run) and part.folded for part in found))


def test_dropped_neighbours_are_one_band() -> None:
    found = list(bands(draft_of("k", "d", "d", "k")))

    assert found[1] == Band(Fate.DROPPED, (1, 2), None, "too old")


def test_a_long_unchanged_run_shows_its_ends_and_what_is_next_to_a_change() -> None:
    found = rows(draft_of("k", "d", *"kkkkkkkkkk"))

    assert found[2:] == [Run(2, 1, 2), Run(4, 3, 7, folded=True), Run(11, 10, 1)]


def test_a_run_too_short_to_be_worth_a_bar_is_shown() -> None:
    found = rows(draft_of("d", *"kkkk"))

    assert found[1:] == [Run(1, 0, 4)]


def test_a_band_shows_its_first_two_messages_and_its_last() -> None:
    assert stretches(range(1, 21)) == [
        Stretch(1, 2),
        Stretch(3, 19, folded=True),
        Stretch(20, 20),
    ]


def test_a_band_with_a_hole_is_two_stretches() -> None:
    assert stretches((1, 2, 5, 6)) == [Stretch(1, 2), Stretch(5, 6)]
