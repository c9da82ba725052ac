"""What the safe rule book keeps to on any conversation, ordinary or broken."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from compaction import (
    SAFE,
    Draft,
    Fate,
    Message,
    Ports,
    Settings,
    Tier,
    compact,
    estimate,
    replay,
    violations,
)
from compaction.pairs import broken_pairs, mend
from compaction.rounds import is_persons
from tests.compaction.generators import ANSWERS, CONVERSATIONS, SETTINGS, SYSTEM, Answers, Shelf

SAFE_SETTINGS = SETTINGS.map(lambda settings: replace(settings, rules=SAFE))
TIERS = st.sampled_from([None, *Tier])
WORLDS = st.lists(ANSWERS, max_size=3).map(lambda answers: Ports(Answers(answers), Shelf()))


@given(CONVERSATIONS, SAFE_SETTINGS, WORLDS, TIERS)
def test_pairs_are_valid_and_everything_is_accounted_for_and_the_input_is_untouched(
    messages: list[Message], settings: Settings, ports: Ports, tier: Tier | None
) -> None:
    before = deepcopy(messages)

    result = compact(messages, settings, ports, tier=tier)

    assert broken_pairs(result.messages) == []
    assert violations(result.draft, messages) == []
    assert messages == before


@given(CONVERSATIONS, SAFE_SETTINGS, WORLDS, TIERS)
def test_nothing_becomes_larger_but_by_what_makes_its_pairs_valid(
    messages: list[Message], settings: Settings, ports: Ports, tier: Tier | None
) -> None:
    valid = mend(Draft.of(messages)).messages

    result = compact(messages, settings, ports, tier=tier)

    assert estimate(result.messages) <= estimate(valid)
    assert result.record.tokens_after == estimate(result.messages)


@given(CONVERSATIONS, SAFE_SETTINGS, WORLDS, TIERS)
def test_system_task_and_newest_human_line_stay_word_for_word(
    messages: list[Message], settings: Settings, ports: Ports, tier: Tier | None
) -> None:
    result = compact(messages, settings, ports, tier=tier)

    kept = {s for slot in result.draft.slots if slot.fate is Fate.KEPT for s in slot.sources}
    persons = [index for index, message in enumerate(messages) if is_persons(message)]
    assert kept >= {*persons[:1], *persons[-1:]}
    if persons:
        assert [m for m in result.messages if is_persons(m)][-1] == messages[persons[-1]]
    if messages and messages[0].is_system:
        assert result.draft.slots[0].sources == (0,)


@given(CONVERSATIONS, SAFE_SETTINGS, WORLDS, TIERS)
def test_the_outcome_again_without_anything_new_is_left_alone(
    messages: list[Message], settings: Settings, ports: Ports, tier: Tier | None
) -> None:
    first = compact(messages, settings, ports, tier=tier)
    model, shelf = ports.summariser, ports.offloads
    assert isinstance(model, Answers)
    assert isinstance(shelf, Shelf)
    asked, saved = len(model.asked), len(shelf.saved)

    again = compact(first.messages, settings, ports, first.memory)

    if first.tier is not Tier.NONE:
        assert again.messages == first.messages
        assert again.tier is Tier.NONE
        assert (len(model.asked), len(shelf.saved)) == (asked, saved)


@given(CONVERSATIONS, SAFE_SETTINGS, WORLDS)
def test_a_run_leaves_its_tier_or_records_why_not(
    messages: list[Message], settings: Settings, ports: Ports
) -> None:
    result = compact(messages, settings, ports)

    fill = result.record.tokens_after
    if result.tier in (Tier.FULL, Tier.EMERGENCY) and settings.warn <= settings.full:
        assert fill < settings.warn * settings.context_window or result.record.error


@given(SYSTEM, CONVERSATIONS, SAFE_SETTINGS, WORLDS)
def test_a_session_replayed_under_it_is_valid_at_every_turn(
    system: Message, messages: list[Message], settings: Settings, ports: Ports
) -> None:
    for turn in replay(system, messages, settings, ports):
        if turn.result is not None:
            assert broken_pairs(turn.result.messages) == []
            assert violations(turn.result.draft, turn.result.before) == []
