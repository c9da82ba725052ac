"""What a rule book may be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from compaction import SAFE
from compaction.rules import RULE_BOOKS, Guard


def test_a_part_of_the_guards_is_refused_by_naming_the_others() -> None:
    with pytest.raises(ValueError, match="all guards or none") as refused:
        replace(SAFE, name="half", guards=frozenset(Guard) - {Guard.PINS, Guard.ONCE})

    assert "'half'" in str(refused.value)
    assert str(refused.value).endswith("missing are once, people-stay")


def test_each_rule_book_has_all_guards_or_none() -> None:
    assert {len(book.guards) for book in RULE_BOOKS.values()} == {0, len(Guard)}
