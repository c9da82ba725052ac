"""What every strategy keeps to, over ordinary and broken conversations."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from compaction import Fate, Memory, Message, Ports, Settings, SettingsError, estimate, violations
from compaction.pairs import broken_pairs, mend
from compaction.provenance import Draft
from compaction.rounds import is_persons, units
from compaction.strategies import STRATEGIES, Strategy
from tests.compaction.generators import ANSWERS, CONVERSATIONS, ORDERLY, SETTINGS, Answers, Shelf

GUARDED = [strategy for strategy in STRATEGIES.values() if strategy.guarded]
every_strategy = pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=list(STRATEGIES))
every_guarded = pytest.mark.parametrize("strategy", GUARDED, ids=lambda one: one.name)

few = examples(max_examples=40)  # of each law, for each of the strategies

# Small numbers, so that short conversations meet every edge.
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "rounds": st.integers(1, 4),
        "far_rounds": st.integers(1, 4),
        "budget": st.sampled_from([0.01, 0.3, 0.5, 1.0]),
        "trim_over": st.sampled_from([1, 100, 3000]),
        "trim_head": st.integers(0, 30),
        "trim_tail": st.integers(0, 30),
        "digest_bytes": st.sampled_from([500, 8000]),
    },
)
WORLDS = st.lists(ANSWERS, max_size=3)


def ports(answers: list[str | None]) -> Ports:
    return Ports(Answers(answers), Shelf())


def own(strategy: Strategy, options: dict[str, float]) -> dict[str, float]:
    return {f.name: options[f.name] for f in strategy.fields if f.name in options}


@every_strategy
@given(CONVERSATIONS, SETTINGS, OPTIONS, WORLDS)
@few
def test_every_message_is_accounted_for_and_the_input_is_untouched(
    strategy: Strategy,
    messages: list[Message],
    settings: Settings,
    options: dict[str, float],
    answers: list[str | None],
) -> None:
    before = deepcopy(messages)

    draft = strategy.compact(
        messages, settings, ports(answers), values=own(strategy, options)
    ).draft

    assert violations(draft, messages) == []
    assert messages == before


@every_guarded
@given(CONVERSATIONS, SETTINGS, OPTIONS, WORLDS)
@few
def test_a_strategy_takes_away_adds_nothing_and_keeps_system_task_and_newest_human_line(
    strategy: Strategy,
    messages: list[Message],
    settings: Settings,
    options: dict[str, float],
    answers: list[str | None],
) -> None:
    values = strategy.read(own(strategy, options))

    draft = strategy.run(messages, settings, ports(answers), Memory(), values).draft

    kept = {source for slot in draft.slots if slot.fate is Fate.KEPT for source in slot.sources}
    persons = [index for index, message in enumerate(messages) if is_persons(message)]
    assert kept >= {*persons[:1], *persons[-1:]}
    assert estimate(draft.messages) <= estimate(messages)
    if messages and messages[0].is_system:
        assert draft.slots[0].sources == (0,)


@pytest.mark.parametrize(
    "strategy", [one for one in GUARDED if one.name != "token-budget"], ids=lambda one: one.name
)
@given(ORDERLY, SETTINGS, OPTIONS, WORLDS, st.sets(st.integers(0, 30)))
@few
def test_what_the_caller_marks_stays_word_for_word_with_its_tool_batch(
    strategy: Strategy,
    messages: list[Message],
    settings: Settings,
    options: dict[str, float],
    answers: list[str | None],
    marks: set[int],
) -> None:
    marked = [messages[index] for index in marks if index < len(messages)]
    world = replace(ports(answers), keep=lambda message: message in marked)
    values = strategy.read(own(strategy, options))

    draft = strategy.run(messages, settings, world, Memory(), values).draft

    left = {source for slot in draft.slots if slot.fate is Fate.KEPT for source in slot.sources}
    batches = [unit for unit in units(messages) if any(messages[i] in marked for i in unit)]
    assert left >= {index for batch in batches for index in batch}


@every_guarded
@given(st.one_of(ORDERLY, CONVERSATIONS), SETTINGS, OPTIONS)
@few
def test_a_second_run_without_new_messages_changes_nothing(
    strategy: Strategy, messages: list[Message], settings: Settings, options: dict[str, float]
) -> None:
    answers: list[str | None] = ["## Anchors\n\n### User Intent\nport it\n\n## Summary\nshort"]
    values = strategy.read(own(strategy, options))

    first = strategy.run(messages, settings, ports(answers), Memory(), values)
    view = first.draft.messages
    again = strategy.run(view, settings, ports(answers), first.memory, values)

    assert again.draft.messages == view


@every_guarded
@given(CONVERSATIONS, SETTINGS, OPTIONS, WORLDS)
@few
def test_pairs_are_valid_and_nothing_is_larger_than_its_input_mended(
    strategy: Strategy,
    messages: list[Message],
    settings: Settings,
    options: dict[str, float],
    answers: list[str | None],
) -> None:
    outcome = strategy.compact(messages, settings, ports(answers), values=own(strategy, options))

    view, mended = outcome.draft.messages, mend(Draft.of(messages)).messages
    again = strategy.compact(view, settings, Ports(), outcome.memory, own(strategy, options))
    assert broken_pairs(view) == []
    assert estimate(view) <= max(estimate(messages), estimate(mended))
    assert again.mended == 0


@every_strategy
def test_a_strategy_says_what_it_is_for_and_what_it_costs(strategy: Strategy) -> None:
    assert STRATEGIES[strategy.name] is strategy
    assert all((strategy.label, strategy.says, strategy.loses))
    assert all(field.default is not None and field.help for field in strategy.fields)


def test_an_option_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(SettingsError, match="no option of sliding-window; there are rounds"):
        STRATEGIES["sliding-window"].read({"raunds": 3})


def test_a_value_that_cannot_be_is_refused_by_name() -> None:
    with pytest.raises(SettingsError, match=r"rounds: .*too small"):
        STRATEGIES["sliding-window"].read({"rounds": 0})
