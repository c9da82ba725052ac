"""The running totals of a growing conversation equal those counted from scratch."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compaction import Draft, Message, estimate
from compaction.cuts import CleanCuts
from compaction.ledger import Ledger
from compaction.repair import repair
from compaction.tokens import message_bytes
from compaction.utf8 import byte_length
from tests.compaction.generators import CONVERSATIONS, ORDERLY, said

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
    assert ledger.whole([everything]) == fresh.whole([everything])


@given(CONVERSATIONS, st.lists(SPANS, max_size=3))
def test_what_is_called_whole_is_what_repair_leaves_alone(
    messages: list[Message], spans: list[tuple[int, int]]
) -> None:
    stretches, end = [], 0
    for span in spans:
        stretch = _range(span, len(messages))
        stretches.append(range(max(stretch.start, end), max(stretch.stop, stretch.start, end)))
        end = stretches[-1].stop

    held = [messages[index] for stretch in stretches for index in stretch]
    whole = Ledger(0, messages).whole(stretches)

    assert not whole or repair(Draft.of(held)).messages == tuple(held)


@given(CONVERSATIONS)
def test_the_whole_conversation_is_whole_exactly_where_repair_finds_nothing(
    messages: list[Message],
) -> None:
    untouched = repair(Draft.of(messages)).messages == tuple(messages)

    assert Ledger(0, messages).whole([range(len(messages))]) == untouched


@given(ORDERLY)
def test_between_exchanges_every_cut_is_clean(messages: list[Message]) -> None:
    unique = {call.id for m in messages for call in m.tool_calls}
    cuts = CleanCuts()
    for message in messages:
        cuts.append(message)

    calls = sum(len(m.tool_calls) for m in messages)
    humans = [i for i, m in enumerate(messages) if m.is_human]
    if len(unique) == calls:
        assert all(cuts.whole([range(i), range(i, len(messages))]) for i in humans)


def test_a_cut_inside_a_batch_is_not_clean() -> None:
    messages = said(("user", "go"), ("assistant", "", "c1"), ("result", "c1", "x"), ("user", ""))
    ledger = Ledger(0, messages)

    assert [ledger.whole([range(cut), range(cut, 4)]) for cut in range(5)] == [
        True,
        True,
        False,
        True,
        True,
    ]
