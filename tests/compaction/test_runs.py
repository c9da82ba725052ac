"""Sequences made on demand behave as the tuples that they stand for."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.messages import Message
from compaction.provenance import Draft, Drop, Fate, Kept, LeftOut, Slot, sources_of
from compaction.runs import joined, parts_of

BEFORE = tuple(Message("user", str(number)) for number in range(40))

RANGES = st.builds(
    lambda start, length: range(start, start + length), st.integers(0, 30), st.integers(0, 9)
)
PARTS: st.SearchStrategy[Sequence[Slot]] = st.one_of(
    RANGES.map(lambda indices: Kept(BEFORE, indices)),
    RANGES.map(lambda indices: tuple(Kept(BEFORE, indices))),
)
BOUNDS = st.none() | st.integers(-50, 50)
SLICES = st.builds(slice, BOUNDS, BOUNDS, st.sampled_from([None, 1, 2, -1]))


@given(st.lists(PARTS, max_size=5), SLICES, st.integers(-50, 50))
def test_a_joined_sequence_is_the_tuple_of_its_items(
    parts: list[Sequence[Slot]], cut: slice, index: int
) -> None:
    items = tuple(slot for part in parts for slot in part)

    row = joined(*parts)

    assert tuple(row) == items
    assert row == items
    assert len(row) == len(items)
    assert tuple(row[cut]) == items[cut]
    assert hash(joined(*parts[::-1])) == hash(joined(*parts[::-1]))
    if -len(items) <= index < len(items):
        assert row[index] == items[index]
    else:
        with pytest.raises(IndexError):
            row[index]


@given(st.lists(PARTS, max_size=5))
def test_joining_what_was_joined_copies_nothing(parts: list[Sequence[Slot]]) -> None:
    row = joined(*parts)

    again = zip(parts_of(joined(row, ())), parts_of(row), strict=True)
    assert all(one is other for one, other in again) or not len(row)
    assert sources_of(row) == tuple(source for slot in row for source in slot.sources)


def test_a_run_says_what_its_items_are() -> None:
    assert Kept(BEFORE, range(3, 5)) == (
        Slot(BEFORE[3], Fate.KEPT, (3,)),
        Slot(BEFORE[4], Fate.KEPT, (4,)),
    )
    assert LeftOut("old", range(2)) == (Drop(0, "old"), Drop(1, "old"))
    assert LeftOut("old", range(2)) != (Drop(0, "old"),)
    assert repr(LeftOut("old", range(1))) == repr((Drop(0, "old"),))


@given(st.lists(RANGES, max_size=3))
def test_cutting_by_ranges_equals_keeping_by_flags(wanted: list[range]) -> None:
    chosen: list[range] = []
    for stretch in sorted(wanted, key=lambda r: r.start):
        start = max(stretch.start, chosen[-1].stop if chosen else 0)
        chosen.append(range(start, max(stretch.stop, start)))
    draft = Draft.of(BEFORE)

    by_ranges = draft.cut(*chosen, reason="old")
    by_flags = draft.keep([any(i in r for r in chosen) for i in range(len(BEFORE))], "old")

    assert by_ranges == by_flags


@given(st.dictionaries(st.integers(0, 39), st.just("changed")))
def test_changed_slots_stand_where_the_old_ones_stood(positions: dict[int, str]) -> None:
    changes = {
        index: Slot(Message("user", text), Fate.TRIMMED, (index,))
        for index, text in sorted(positions.items())
    }

    draft = Draft.of(BEFORE).with_slots(changes)

    assert list(draft.slots) == [
        changes.get(index, slot) for index, slot in enumerate(Draft.of(BEFORE).slots)
    ]


def test_a_draft_keeps_the_messages_it_was_made_of_when_the_caller_s_list_goes_on() -> None:
    messages = [Message("user", "one")]

    draft = Draft.of(messages)
    messages[0] = Message("user", "two")

    assert draft.messages == (Message("user", "one"),)
