"""Pair repair by sets of ids: what it mends, and the orders it accepts as the original does."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given

from compaction import HARNESS9_VIEW, Draft, Fate, Message, Ports, Settings, Tier, compact
from compaction.repair import UNAVAILABLE, repair
from tests.compaction.generators import CONVERSATIONS, Answers, said


def _one_thing_each(messages: list[Message]) -> list[Message]:
    # A message that calls *and* answers exists nowhere; dropping one would take its calls along.
    return [m if not m.tool_calls else replace(m, tool_call_id="") for m in messages]


WELL_TYPED = CONVERSATIONS.map(_one_thing_each)


def _called(messages: list[Message]) -> set[str]:
    return {c.id for m in messages if m.role == "assistant" for c in m.tool_calls}


@given(WELL_TYPED)
def test_afterwards_every_result_has_a_call_and_every_named_call_a_result(
    messages: list[Message],
) -> None:
    mended = list(repair(Draft.of(messages)).messages)

    results = {m.tool_call_id for m in mended if m.tool_call_id}
    assert results <= _called(mended)
    assert _called(mended) - {""} <= results


@given(WELL_TYPED)
def test_a_second_repair_adds_only_one_more_placeholder_per_call_with_an_empty_id(
    messages: list[Message],
) -> None:
    once = repair(Draft.of(messages)).messages
    nameless = sum(c.id == "" for m in once if m.role == "assistant" for c in m.tool_calls)

    twice = repair(Draft.of(once)).messages

    added = Counter(twice) - Counter(once)
    assert added == Counter({Message("user", UNAVAILABLE): nameless} if nameless else {})
    assert not Counter(once) - Counter(twice)


@given(CONVERSATIONS)
def test_nothing_but_orphan_results_goes_and_nothing_but_placeholders_comes(
    messages: list[Message],
) -> None:
    draft = repair(Draft.of(messages))

    called = _called(messages)
    assert all(messages[d.source].tool_call_id not in called | {""} for d in draft.drops)
    assert {s.message.content for s in draft.slots if s.fate is Fate.INSERTED} <= {UNAVAILABLE}


def test_placeholders_stand_before_the_results_that_are_there() -> None:
    messages = said(("assistant", "", "c1", "c2"), ("result", "c1", "one"))

    mended = repair(Draft.of(messages)).messages

    assert [m.tool_call_id for m in mended] == ["", "c2", "c1"]


def test_a_summary_that_swallows_a_call_takes_its_answer_along_even_from_the_front() -> None:
    system = Message("system", "S", tool_call_id="c1")
    messages = [system, *said(("assistant", "", "c1"), *[("user", "x")] * 6)]
    ports = Ports(Answers(["## Summary\nshort"]))

    result = compact(messages, Settings(1000, rules=HARNESS9_VIEW), ports, tier=Tier.FULL)

    assert [drop.source for drop in result.draft.drops] == [0]


def test_a_draft_in_order_is_returned_as_it_is() -> None:
    draft = Draft.of(said(("assistant", "", "c1"), ("result", "c1", "one")))

    assert repair(draft) is draft
