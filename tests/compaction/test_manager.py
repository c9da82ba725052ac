"""Context management that can be left alone: checked outcomes, two falls, no exception."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction import (
    STRATEGIES,
    Checks,
    ContextManager,
    Draft,
    Fate,
    Managed,
    Memory,
    Message,
    Ports,
    Settings,
    SettingsError,
    Tier,
    estimate,
    violations,
)
from compaction.checks import Rule
from compaction.pairs import broken_pairs, mend
from compaction.provenance import Slot
from compaction.room import in_estimates
from compaction.rounds import is_persons
from compaction.strategies.contract import Outcome
from tests.compaction.generators import ANSWERS, CONVERSATIONS, SETTINGS, Answers, Shelf, said

GOOD = "## Anchors\n\n### User Intent\nport it\n\n## Summary\nshort"
STEPS = said(
    ("system", "S"),
    ("user", "Port the report"),
    *[("assistant", f"step {n} @rep(w,2000)") for n in range(20)],
    ("user", "and the header row"),
)
SETTINGS_12K = Settings(12_000, session_id="s1")


class Broken:
    """A summariser, and a disk, that fail."""

    def summarise(self, _request: object) -> Message:
        raise ConnectionError("no model today")

    def save(self, *_: object) -> None:
        raise OSError("no space left")


def test_below_the_trigger_nothing_is_done_and_no_record_made() -> None:
    model = Answers([GOOD])

    managed = ContextManager(Settings(100_000), Ports(model)).manage(STEPS)

    assert managed.messages == tuple(STEPS)
    assert (managed.by, managed.findings, model.asked) == ("", (), [])
    assert managed.record.tier == Tier.NONE


def test_from_the_trigger_on_the_strategy_runs_and_its_outcome_is_taken() -> None:
    managed = ContextManager(SETTINGS_12K, Ports(Answers([GOOD]))).manage(STEPS)

    assert managed.by == "progressive"
    assert managed.findings == ()
    assert managed.record.summary_text == "short"
    assert managed.memory.summary == "short"
    assert managed.record.tokens_after < managed.record.tokens_before


def test_a_strategy_that_saves_too_little_gives_way_to_the_sliding_window() -> None:
    manager = ContextManager(SETTINGS_12K, Ports(Broken()), strategy="rolling-summary")

    managed = manager.manage(STEPS)

    assert managed.by == "sliding-window"
    assert [(f.rule, f.strategy) for f in managed.findings] == [(Rule.SHRINK, "rolling-summary")]
    assert "no model" not in managed.messages[-1].content
    assert managed.messages[-1] == STEPS[-1]


def test_where_a_window_is_not_enough_messages_are_cut_by_force() -> None:
    calls = said(("assistant", "", "c1"), ("result", "c1", "@rep(z,60000)"))
    messages = [*STEPS[:3], *calls]
    ports = Ports(Broken(), Broken())

    managed = ContextManager(Settings(12_000), ports, checks=Checks(saving=0.2)).manage(messages)

    assert managed.by in ("progressive", "forced truncation")
    assert broken_pairs(managed.messages) == []
    assert estimate(managed.messages) < 12_000 * 0.70
    assert managed.messages[:2] == tuple(messages[:2])


def test_what_cannot_be_made_smaller_stays_and_the_record_says_what_is_in_the_way() -> None:
    messages = said(("system", "@rep(s,3900)"), ("user", "hi"))
    manager = ContextManager(Settings(1000))

    first = manager.manage(messages)
    again = manager.manage(messages, first.memory)

    assert first.messages == tuple(messages)
    assert "97.5% of the window" in first.record.error
    assert again.record.tier == Tier.NONE
    assert again.findings == ()


def test_broken_pairs_are_mended_at_any_fill() -> None:
    messages = said(("assistant", "", "c1"), ("user", "?"), ("result", "c1", "42"))

    managed = ContextManager(Settings(100_000)).manage(messages)

    assert broken_pairs(managed.messages) == []
    assert managed.messages == mend(Draft.of(messages)).messages


def test_an_outcome_that_loses_the_person_s_words_is_not_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def forgets(before: tuple[Message, ...], *_: object) -> Outcome:
        slots = (Slot(Message("user", "all of it"), Fate.SUMMARISED, tuple(range(len(before)))),)
        return Outcome(Draft(slots), Memory())

    bad = replace(STRATEGIES["sparse"], name="bad", run=forgets)
    monkeypatch.setattr("compaction.manager.STRATEGIES", {**STRATEGIES, "bad": bad})

    managed = ContextManager(SETTINGS_12K, strategy="bad").manage(STEPS)

    assert managed.by == "sliding-window"
    assert {f.rule for f in managed.findings} == {Rule.SYSTEM, Rule.PEOPLE, Rule.ROUNDS}


def test_a_strategy_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(LookupError, match="there is no strategy 'magic'; there are progressive, "):
        ContextManager(SETTINGS_12K, strategy="magic")


def test_options_that_cannot_be_are_refused_when_it_is_made() -> None:
    with pytest.raises(SettingsError, match="rounds"):
        ContextManager(SETTINGS_12K, strategy="sliding-window", values={"rounds": 0})


def test_it_can_be_awaited_and_says_the_same() -> None:
    manager = ContextManager(SETTINGS_12K, Ports(Answers([GOOD])))

    managed = asyncio.run(manager.amanage(STEPS, away=asyncio.to_thread))

    assert managed.messages == manager.manage(STEPS).messages


MANAGERS = st.builds(
    ContextManager,
    SETTINGS,
    st.builds(lambda answers: Ports(Answers(answers), Shelf()), st.lists(ANSWERS, max_size=3)),
    st.sampled_from(list(STRATEGIES)),
    trigger=st.sampled_from([0.0, 0.5, 0.7, 1.0]),
    checks=st.builds(Checks, st.sampled_from([0.0, 0.05, 0.5]), st.integers(0, 4)),
)


def _once(managed: Managed, manager: ContextManager) -> Managed:
    return manager.manage(managed.messages, managed.memory)


@given(CONVERSATIONS, MANAGERS)
def test_whatever_the_strategy_the_world_and_the_history_the_list_is_valid_and_no_larger(
    messages: list[Message], manager: ContextManager
) -> None:
    before = deepcopy(messages)

    managed = manager.manage(messages)

    assert messages == before
    assert broken_pairs(managed.messages) == []
    assert violations(managed.result.draft, messages) == []
    assert estimate(managed.messages) <= estimate(mend(Draft.of(messages)).messages)
    persons = [message for message in messages if is_persons(message)]
    assert [m for m in managed.messages if is_persons(m)][-1:] == persons[-1:]
    assert [m for m in managed.messages if is_persons(m)][:1] == persons[:1]
    if messages and messages[0].is_system:
        assert managed.messages[0] == messages[0]


@given(CONVERSATIONS, MANAGERS)
def test_without_anything_new_it_does_nothing_more(
    messages: list[Message], manager: ContextManager
) -> None:
    first = manager.manage(messages)
    model, shelf = manager.ports.summariser, manager.ports.offloads
    assert isinstance(model, Answers)
    assert isinstance(shelf, Shelf)
    asked, saved = len(model.asked), len(shelf.saved)

    again = _once(first, manager)

    assert again.messages == first.messages
    if first.record.tier != Tier.NONE:
        assert again.record.tier == Tier.NONE
    assert (len(model.asked), len(shelf.saved)) == (asked, saved)


class Twice:
    """A counter that finds twice the tokens that bytes suggest."""

    name = "twice"

    def count(self, messages: Sequence[Message]) -> int:
        return 2 * estimate(messages)


def test_it_acts_when_its_own_counter_says_so() -> None:
    half_full = Settings(20_000, session_id="s1")
    model = Answers([GOOD])

    by_bytes = ContextManager(half_full, Ports(model)).manage(STEPS)
    counted = ContextManager(half_full, Ports(model), counter=Twice()).manage(STEPS)

    assert by_bytes.by == ""
    assert counted.by == "progressive"
    assert counted.filled.tokens == 2 * estimate(STEPS)
    assert 2 * estimate(counted.messages) < 0.6 * 20_000


class Hostile:
    """A port that fails whatever it is asked for."""

    name = "hostile"

    def __getattr__(self, _name: str) -> Hostile:
        return self

    def __call__(self, *_: object) -> Any:
        raise RuntimeError("\ud83d and a thousand more words " * 1_000)


@pytest.mark.parametrize(
    "port", ["summariser", "offloads", "embedder", "vectors", "on_leaving", "cancelled", "keep"]
)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_whichever_port_fails_the_list_is_valid_and_smaller(strategy: str, port: str) -> None:
    world = Ports(**{port: Hostile()})

    managed = ContextManager(SETTINGS_12K, world, strategy).manage(STEPS)

    assert broken_pairs(managed.messages) == []
    assert estimate(managed.messages) < estimate(STEPS)
    assert violations(managed.result.draft, STEPS) == []


@pytest.mark.parametrize("answer", [ConnectionError("no service"), -1, None])
def test_where_its_counter_fails_it_goes_by_the_estimate_and_says_so(answer: object) -> None:
    class Failing:
        name = "failing"

        def count(self, _messages: Sequence[Message]) -> int:
            if isinstance(answer, Exception):
                raise answer
            return answer  # type: ignore[return-value] # what it should not answer

    managed = ContextManager(SETTINGS_12K, Ports(Answers([GOOD])), counter=Failing()).manage(STEPS)

    assert managed.by == "progressive"
    assert managed.filled.tokens == estimate(STEPS)
    assert managed.filled.why.startswith("estimated, since failing could not count: ")


def test_what_is_sent_besides_the_messages_fills_the_window_too() -> None:
    manager = ContextManager(Settings(20_000), Ports(Answers([GOOD])), besides=6_000)

    managed = manager.manage(STEPS)

    assert managed.by == "progressive"
    assert managed.filled.tokens == estimate(STEPS) + 6_000
    assert estimate(managed.messages) + 6_000 < 0.6 * 20_000


def test_what_leaves_no_room_at_all_is_said_once_and_nothing_is_cut() -> None:
    manager = ContextManager(Settings(20_000), Ports(Answers([GOOD])), besides=30_000)

    managed = manager.manage(STEPS)
    again = manager.manage(managed.messages, managed.memory)

    assert managed.messages == tuple(STEPS)
    assert "30,000 of 20,000 tokens" in managed.record.error
    assert again.record.tier == Tier.NONE


@given(
    counted=st.integers(1, 10**6),
    estimated=st.integers(1, 10**6),
    besides=st.integers(0, 900),
)
def test_a_smaller_window_has_its_lines_where_the_whole_one_has_them(
    counted: int, estimated: int, besides: int
) -> None:
    whole = Settings(1_000)

    room = in_estimates(whole, counted, estimated, besides)

    for name in ("warn", "soft", "full", "emergency"):
        line = getattr(room, name) * (1_000 - besides) + besides
        assert line == pytest.approx(getattr(whole, name) * 1_000)
