"""A list kept as what changed reads back as it was, and in no more steps than it is long."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.catalog.splices import LIGHT, is_key_due, packed_ids, splice, unpacked_ids

numbers = st.lists(st.integers(0, 6), max_size=30)


@given(numbers, numbers)
def test_a_splice_makes_one_list_of_the_other(before: list[int], after: list[int]) -> None:
    items = list(before)

    splice(before, after).apply(items)

    assert items == after


@given(numbers)
def test_equal_lists_differ_by_nothing(items: list[int]) -> None:
    assert splice(items, items).is_nothing


@given(numbers, numbers)
def test_what_is_appended_is_all_that_an_append_keeps(before: list[int], new: list[int]) -> None:
    change = splice(before, before + new)

    assert (change.removed, len(change.inserted)) == (0, len(new))


@given(st.lists(st.integers(0, 2**32 - 1)))
def test_numbers_are_unpacked_as_they_were_packed(ids: list[int]) -> None:
    assert list(unpacked_ids(packed_ids(ids))) == ids


def test_rewriting_again_and_again_makes_keys_due() -> None:
    assert not is_key_due(weight=LIGHT, length=3)
    assert is_key_due(weight=LIGHT + 1, length=3)
    assert not is_key_due(weight=10_000, length=10_000)
