"""Tool pairs by position: every list can be mended, and no real result is lost on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from compaction import Draft, Fate, Message, ToolCall, violations
from compaction.pairs import broken_pairs, calls_of, is_result, mend
from compaction.provenance import Slot
from compaction.repair import UNAVAILABLE
from tests.compaction.generators import CONVERSATIONS, ORDERLY, said


def _mended(messages: list[Message]) -> list[Message]:
    return list(mend(Draft.of(messages)).messages)


def _brief(messages: Iterable[Message]) -> list[str]:
    return [
        f"{m.tool_call_id}={m.content}" if m.is_tool_result else m.content or "call"
        for m in messages
    ]


_ID = st.sampled_from(["c1", "c2", "c3"])
TANGLES = st.lists(
    st.one_of(
        st.builds(
            lambda text, ids: Message(
                "assistant", text, tuple(ToolCall(i, "bash", "{}") for i in ids)
            ),
            st.sampled_from(["", "so"]),
            st.lists(st.one_of(_ID, st.just("")), max_size=3),
        ),
        st.builds(
            lambda one, text: Message("user", text, tool_call_id=one),
            _ID,
            st.sampled_from(["one", "two", UNAVAILABLE]),
        ),
        st.just(Message("user", "and?")),
    ),
    max_size=14,
)
ANY = st.one_of(TANGLES, CONVERSATIONS)


@given(ANY)
def test_any_list_is_valid_once_mended(messages: list[Message]) -> None:
    mended = mend(Draft.of(messages))

    assert broken_pairs(mended.messages) == []
    assert violations(mended, messages) == []


@given(ANY)
def test_mending_twice_changes_nothing_more(messages: list[Message]) -> None:
    once = mend(Draft.of(messages))

    assert mend(once) is once


@given(ORDERLY)
def test_what_is_valid_is_left_untouched(messages: list[Message]) -> None:
    draft = Draft.of(messages)

    assert mend(draft) is draft


@given(ANY)
def test_no_real_result_is_lost_whose_call_is_still_there(messages: list[Message]) -> None:
    open_calls: Counter[str] = Counter()
    answerable: Counter[str] = Counter()
    for message in messages:
        if not is_result(message):
            open_calls.update(call.id for call in calls_of(message))
        elif message.content != UNAVAILABLE and open_calls[message.tool_call_id] > 0:
            open_calls[message.tool_call_id] -= 1
            answerable[message.tool_call_id] += 1

    kept = Counter(
        m.tool_call_id for m in _mended(messages) if is_result(m) and m.content != UNAVAILABLE
    )

    assert kept == answerable


@given(ANY)
def test_only_results_and_calls_without_an_id_are_left_out(messages: list[Message]) -> None:
    mended = mend(Draft.of(messages))

    for drop in mended.drops:
        gone = messages[drop.source]
        assert drop.reason
        assert is_result(gone) or not (gone.content or any(call.id for call in gone.tool_calls))


def test_a_result_behind_a_message_in_between_moves_to_its_call_and_stays_real() -> None:
    messages = said(
        ("user", "count"),
        ("assistant", "", "c1"),
        ("user", "hurry"),
        ("result", "c1", "42"),
        ("assistant", "42"),
    )

    mended = mend(Draft.of(messages))

    assert _brief(mended.messages) == ["count", "call", "c1=42", "hurry", "42"]
    assert mended.slots[2] == Slot(messages[3], Fate.KEPT, (3,), "moved to its tool call")
    assert violations(mended, messages) == []


def test_a_batch_that_was_split_is_put_together_in_the_order_of_its_calls() -> None:
    messages = said(
        ("assistant", "", "c1", "c2", "c3"),
        ("result", "c3", "three"),
        ("user", "and?"),
        ("result", "c1", "one"),
    )

    assert _brief(_mended(messages)) == ["call", "c1=one", f"c2={UNAVAILABLE}", "c3=three", "and?"]


def test_results_of_a_whole_batch_may_come_in_any_order() -> None:
    messages = said(("assistant", "", "c1", "c2"), ("result", "c2", "two"), ("result", "c1", "one"))

    assert broken_pairs(messages) == []
    assert _mended(messages) == messages


def test_of_two_messages_with_calls_in_a_row_each_gets_its_result() -> None:
    messages = said(
        ("assistant", "", "c1"),
        ("assistant", "", "c2"),
        ("result", "c1", "one"),
        ("result", "c2", "two"),
    )

    assert _brief(_mended(messages)) == ["call", "c1=one", "call", "c2=two"]


def test_of_repeated_ids_the_nearest_open_call_gets_the_result_and_extras_go() -> None:
    messages = said(
        ("assistant", "", "c1"),
        ("result", "c1", "first"),
        ("assistant", "", "c1"),
        ("result", "c1", "second"),
        ("result", "c1", "third"),
    )

    mended = mend(Draft.of(messages))

    assert _brief(mended.messages) == ["call", "c1=first", "call", "c1=second"]
    assert [(d.source, d.reason) for d in mended.drops] == [
        (4, "its tool call is answered already")
    ]


def test_a_result_before_its_call_does_not_answer_it() -> None:
    messages = said(("result", "c1", "stale"), ("assistant", "", "c1"), ("user", "and?"))

    assert _brief(_mended(messages)) == ["call", f"c1={UNAVAILABLE}", "and?"]


def test_calls_that_are_pending_at_the_end_get_no_made_up_result() -> None:
    running = said(("user", "go"), ("assistant", "", "c1", "c2"), ("result", "c1", "one"))
    answered = [*running, *said(("result", "c2", "two"))]

    assert _mended(running) == running
    assert _mended(answered) == answered


def test_a_stored_placeholder_gives_way_when_the_real_result_arrives() -> None:
    messages = said(
        ("assistant", "", "c1"),
        ("result", "c1", UNAVAILABLE),
        ("user", "?"),
        ("result", "c1", "42"),
    )

    assert _brief(_mended(messages)) == ["call", "c1=42", "?"]


def test_a_call_without_an_id_is_left_out_for_nothing_can_answer_it() -> None:
    messages = said(("assistant", "look", "", "c1"), ("result", "c1", "one"), ("assistant", "", ""))

    mended = mend(Draft.of(messages))

    assert [call.id for m in mended.messages for call in m.tool_calls] == ["c1"]
    assert mended.slots[0].fate is Fate.TRIMMED
    assert [d.source for d in mended.drops] == [2]


def test_every_broken_place_is_named() -> None:
    messages = said(
        ("assistant", "", "c1", ""), ("user", "?"), ("result", "c1", "42"), ("assistant", "ok")
    )

    assert broken_pairs(messages) == [
        "message 0 calls a tool without an id",
        "call 'c1' before message 1 is open",
        "message 2 answers 'c1', which waits for nothing",
    ]
