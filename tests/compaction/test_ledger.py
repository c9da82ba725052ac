"""The running totals of a growing conversation equal those counted from scratch."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compaction import Draft, Message, estimate
from compaction.ledger import Ledger
from compaction.repair import repair
from compaction.tokens import message_bytes
from compaction.utf8 import byte_length
from tests.compaction.generators import CONVERSATIONS, said

SPANS = st.tuples(st.integers(0, 20), st.integers(0, 20))


def _range(span: tuple[int, int], count: int) -> range:
    start, length = span
    return range(count)[start : start + length]


@given(CONVERSATIONS, SPANS, st.integers(0, 60))
def test_totals_and_large_results_equal_a_fresh_count(
    messages: list[Message], span: tuple[int, int], limit: int
) -> None:
    where = _range(span, len(messages))

    ledger = Ledger(limit)
    for message in messages:
        ledger.extend([message])

    assert ledger.messages == tuple(messages)
    assert ledger.tokens == estimate(messages)
    assert ledger.bytes_in(where) == sum(message_bytes(messages[i]) for i in where)
    assert ledger.large_in(where) == [
        i for i in where if messages[i].is_tool_result and byte_length(messages[i].content) > limit
    ]


@given(CONVERSATIONS, st.sampled_from(["", "short", "漢" * 30]), st.integers(0, 60))
def test_a_rewritten_ledger_equals_a_fresh_one_and_leaves_earlier_snapshots_alone(
    messages: list[Message], text: str, limit: int
) -> None:
    ledger = Ledger(limit, messages)
    before = ledger.messages
    changes = {
        index: Message("user", text, (), messages[index].tool_call_id)
        for index in ledger.large_in(range(len(messages)))
        if messages[index].role == "user" and not messages[index].tool_calls
    }

    ledger.rewrite(changes)

    after = [changes.get(index, message) for index, message in enumerate(messages)]
    fresh = Ledger(limit, after)
    everything = range(len(messages))
    assert before == tuple(messages)
    assert ledger.messages == fresh.messages
    assert ledger.tokens == fresh.tokens
    assert ledger.large_in(everything) == fresh.large_in(everything)
    assert ledger.cuts.settled_from(0) == fresh.cuts.settled_from(0)


@given(CONVERSATIONS, st.integers(0, 30))
def test_from_where_it_is_settled_repair_finds_nothing_and_before_it_needs_nothing_else(
    messages: list[Message], start: int
) -> None:
    start = min(start, len(messages))

    settled = Ledger(0, messages).cuts.settled_from(start)

    if settled is not None:
        edge = repair(Draft.of(messages[start:settled])).messages
        assert repair(Draft.of(messages[start:])).messages == (*edge, *messages[settled:])


@given(CONVERSATIONS)
def test_it_is_settled_from_the_start_exactly_where_repair_finds_nothing(
    messages: list[Message],
) -> None:
    untouched = repair(Draft.of(messages)).messages == tuple(messages)

    assert (Ledger(0, messages).cuts.settled_from(0) == 0) == untouched


@given(CONVERSATIONS)
def test_a_cut_is_clean_where_no_call_id_occurs_on_both_sides(messages: list[Message]) -> None:
    cuts = Ledger(0, messages).cuts

    for cut in range(len(messages) + 1):
        assert cuts.is_clean(cut) == _ids(messages[:cut]).isdisjoint(_ids(messages[cut:]))


def _ids(messages: list[Message]) -> set[str]:
    called = {c.id for m in messages if m.role == "assistant" for c in m.tool_calls}
    return called | {m.tool_call_id for m in messages if m.is_tool_result}


def test_inside_a_batch_it_is_settled_after_its_last_result() -> None:
    messages = said(
        ("user", "go"), ("assistant", "", "c1", "c2"), ("result", "c1", ""), ("result", "c2", "")
    )
    cuts = Ledger(0, messages).cuts

    assert [cuts.settled_from(start) for start in range(5)] == [0, 1, 4, 4, 4]
