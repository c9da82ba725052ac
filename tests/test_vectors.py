"""Vectors in SQLite answer as those in memory do."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.vectors import SqliteVectors
from compaction import STRATEGIES, Ports, Settings
from compaction.embedding import MemoryVectors, Vector
from tests.compaction.test_strategy_steps import work

VECTORS = st.dictionaries(st.integers(0, 6), st.floats(-1, 1), max_size=5)


@given(st.lists(st.tuples(st.integers(0, 4), VECTORS), max_size=8), VECTORS, st.integers(0, 6))
def test_the_nearest_are_those_that_memory_finds(
    added: list[tuple[int, Vector]], question: Vector, count: int
) -> None:
    memory, sqlite = MemoryVectors(), SqliteVectors()
    for key, vector in added:
        memory.add(key, vector)
        sqlite.add(key, vector)

    scores = [score for _, score in sqlite.nearest(question, count)]
    everything = dict(sqlite.nearest(question, 9))

    # Sums in another order differ in their last digit, and so may the order of what is as near.
    assert scores == pytest.approx([score for _, score in memory.nearest(question, count)])
    assert everything == pytest.approx(dict(memory.nearest(question, 9)))


def test_a_recall_over_sqlite_keeps_what_one_over_memory_keeps() -> None:
    messages, settings = work(30), Settings(context_window=2_000)

    outcomes = [
        STRATEGIES["vector-recall"].compact(messages, settings, Ports(vectors=vectors))
        for vectors in (MemoryVectors, SqliteVectors)
    ]

    assert outcomes[0].draft == outcomes[1].draft
    assert outcomes[0].draft.drops


@pytest.mark.parametrize("weight", [math.nan, math.inf])
def test_a_weight_that_is_no_number_is_refused_before_anything_is_kept(weight: float) -> None:
    vectors = SqliteVectors()

    with pytest.raises(ValueError, match="coordinate 3"):
        vectors.add(1, {2: 0.5, 3: weight})

    assert vectors.nearest({2: 1.0}, 5) == []
