"""The provenance law: whatever is done to a conversation, every message stays accounted for."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction import (
    Draft,
    Drop,
    Fate,
    Message,
    Ports,
    Settings,
    Slot,
    ToolCall,
    compact,
    estimate,
    violations,
)
from compaction.budget import cut_to_budget, forced_cut
from compaction.offload import Gate, offload
from compaction.repair import repair
from compaction.rules import ForcedCut
from compaction.strategies import one_shot
from compaction.strategies.progressive import force, replace_range
from compaction.tiers import Tier
from compaction.window import slide
from tests.compaction.generators import ANSWERS, CONVERSATIONS, SETTINGS, Answers, Shelf

Step = Callable[[Draft], Draft]


def _offload(threshold: int, start: int, length: int) -> Step:
    def step(draft: Draft) -> Draft:
        where = range(len(draft.slots))[start : start + length]
        gate = Gate("s1", threshold, 3)
        return offload(draft, where, threshold, gate, Shelf(), frozenset()).draft

    return step


def _summarise(start: int, length: int) -> Step:
    def step(draft: Draft) -> Draft:
        older = range(len(draft.slots))[start : start + length]
        return replace_range(draft, older, Message("user", "in short"))

    return step


SMALL = st.integers(0, 12)
STEPS: st.SearchStrategy[Step] = st.one_of(
    st.just(repair),
    st.builds(lambda limit, tail: lambda d: cut_to_budget(d, limit, tail), SMALL, SMALL),
    st.builds(
        lambda rule, limit: lambda d: forced_cut(d, rule, limit), st.sampled_from(ForcedCut), SMALL
    ),
    st.builds(lambda size: lambda d: slide(d, size), st.integers(-1, 12)),
    st.builds(_offload, st.sampled_from([0, 20, 60]), SMALL, SMALL),
    st.builds(_summarise, SMALL, SMALL),
)


@given(CONVERSATIONS, st.lists(STEPS, max_size=6))
def test_any_sequence_of_steps_keeps_the_law(messages: list[Message], steps: list[Step]) -> None:
    draft = Draft.of(messages)

    for step in steps:
        draft = step(draft)

        assert violations(draft, messages) == []


@given(CONVERSATIONS, SETTINGS, st.lists(ANSWERS, max_size=3), st.sampled_from([None, *Tier]))
def test_compact_keeps_the_law_in_every_rule_book_and_tier(
    messages: list[Message], settings: Settings, answers: list[str | None], tier: Tier | None
) -> None:
    ports = Ports(Answers(answers), Shelf())

    first = compact(messages, settings, ports, tier=tier)
    again = compact(first.messages, settings, ports, first.memory, tier=tier)

    assert violations(first.draft, messages) == []
    assert violations(again.draft, first.messages) == []


@given(CONVERSATIONS, SETTINGS, ANSWERS, st.booleans())
def test_the_forced_cut_and_the_one_shot_summary_keep_the_law(
    messages: list[Message], settings: Settings, answer: str | None, forced: bool
) -> None:
    shot = one_shot.compact(messages, settings, Ports(Answers([answer])), forced=forced)

    assert violations(shot, messages) == []
    assert violations(force(messages, settings), messages) == []


@given(CONVERSATIONS, SETTINGS, ANSWERS)
def test_the_caller_s_list_and_messages_are_never_changed(
    messages: list[Message], settings: Settings, answer: str | None
) -> None:
    before = deepcopy(messages)
    ports = Ports(Answers([answer]), Shelf())

    for tier in Tier:
        compact(messages, settings, ports, tier=tier)
    one_shot.compact(messages, settings, ports, forced=True)

    assert messages == before


@given(CONVERSATIONS, SETTINGS, ANSWERS)
def test_the_counts_of_a_record_are_those_of_its_messages(
    messages: list[Message], settings: Settings, answer: str | None
) -> None:
    result = compact(messages, settings, Ports(Answers([answer]), Shelf()))

    record = result.record
    assert (record.msgs_before, record.msgs_after) == (len(messages), len(result.messages))
    assert record.tokens_before == estimate(messages)
    assert record.tokens_after == estimate(result.messages)
    assert bool(record.error) == bool(result.fallback)


@given(CONVERSATIONS, SETTINGS)
def test_what_would_be_rewritten_is_an_offloaded_result_and_only_where_the_input_is_shared(
    messages: list[Message], settings: Settings
) -> None:
    result = compact(messages, settings, Ports(offloads=Shelf()))

    for index, placeholder in result.rewritten.items():
        assert settings.rules.aliases_input
        assert messages[index].tool_call_id == placeholder.tool_call_id != ""
        assert placeholder.content.startswith("[offloaded: ")


ONE, TWO = Message("user", "one"), Message("assistant", "two")
CHANGED = replace(ONE, content="changed")
LAWLESS = {
    "message 1 is accounted for 0 times": Draft((Slot(ONE, Fate.KEPT, (0,)),)),
    "message 0 is accounted for 2 times": Draft(Draft.of([ONE, TWO]).slots, (Drop(0, "twice"),)),
    "message 2 is accounted for 1 times": Draft(Draft.of([ONE, TWO]).slots, (Drop(2, "unknown"),)),
    "message 0 is called kept but was changed": Draft(
        (Slot(CHANGED, Fate.KEPT, (0,)), Slot(TWO, Fate.KEPT, (1,)))
    ),
    "message 0 changed its role or result id": Draft(
        (Slot(TWO, Fate.TRIMMED, (0,)), Slot(TWO, Fate.KEPT, (1,)))
    ),
    "a message that was offloaded has 2 sources": Draft((Slot(ONE, Fate.OFFLOADED, (0, 1)),)),
    "a message that was kept has no source 7": Draft((Slot(ONE, Fate.KEPT, (7,)),)),
    "an inserted message claims (0,)": Draft(
        (Slot(ONE, Fate.INSERTED, (0,)), Slot(TWO, Fate.KEPT, (1,)))
    ),
    "a summary of nothing": Draft((*Draft.of([ONE, TWO]).slots, Slot(ONE, Fate.SUMMARISED))),
    "message 0 comes after message 1": Draft(
        (Slot(TWO, Fate.KEPT, (1,)), Slot(ONE, Fate.KEPT, (0,)))
    ),
    "a dropped message still has a slot": Draft(
        (Slot(ONE, Fate.DROPPED, (0,)), Slot(TWO, Fate.KEPT, (1,)))
    ),
}


@pytest.mark.parametrize("says", LAWLESS)
def test_a_broken_account_is_named(says: str) -> None:
    assert says in violations(LAWLESS[says], [ONE, TWO])


CALL = Message("assistant", "", (ToolCall("c1", "bash"),))
RESULT = Message("user", "42", tool_call_id="c1")


def test_a_result_may_move_to_directly_behind_its_own_call_and_nowhere_else() -> None:
    before = [CALL, ONE, RESULT, TWO]
    call, one, result, two = Draft.of(before).slots

    assert violations(Draft((call, result, one, two)), before) == []
    assert violations(Draft((result, call, one, two)), before) != []
    assert violations(Draft((call, one, two, result)), before) != []


def test_a_result_that_came_before_the_call_may_not_move_behind_it() -> None:
    before = [RESULT, CALL]
    result, call = Draft.of(before).slots

    assert violations(Draft((call, result)), before) == ["message 0 comes after message 1"]
