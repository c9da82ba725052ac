"""A session call by call: the same as every call from scratch, at the cost of one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction import (
    HARNESS9_VIEW,
    HARNESS9_WRITEBACK,
    RULE_BOOKS,
    Fate,
    Memory,
    Message,
    Ports,
    RuleBook,
    Settings,
    Slot,
    Tier,
    ToolCall,
    Turn,
    budget,
    compact,
    estimate,
    ledger,
    replay,
    tier_for,
    tokens,
    violations,
)
from compaction.provenance import Kept
from compaction.tokens import message_bytes
from compaction.turns import call_positions, takes_effect
from tests.compaction.generators import ANSWERS, BODIES, SETTINGS, SYSTEM, Answers, Shelf, said


def _from_scratch(
    system: Message, messages: list[Message], settings: Settings, ports: Ports
) -> Iterator[Turn]:
    """The same loop with nothing kept from call to call but the list itself."""
    history, seen, memory = [system], 0, Memory()
    for number, position in enumerate(call_positions(messages), start=1):
        history += messages[seen:position]
        seen = position
        tokens = estimate(history)
        tier = tier_for(tokens, settings)
        if tier is Tier.NONE:
            yield Turn(number, position, tokens, tier, None)
            continue
        result = compact(list(history), settings, ports, memory)
        memory = result.memory
        written_back = settings.rules.writes_back and takes_effect(result, settings.rules)
        if written_back:
            history = list(result.messages)
        for index, placeholder in result.rewritten.items():
            history[index] = placeholder
        yield Turn(number, position, tokens, tier, result, written_back)


@given(SYSTEM, BODIES, SETTINGS, st.lists(ANSWERS, max_size=3))
def test_replay_equals_every_call_done_from_scratch(
    system: Message, messages: list[Message], settings: Settings, answers: list[str | None]
) -> None:
    shelf, other_shelf = Shelf(), Shelf()
    ports = Ports(Answers(answers), shelf)
    expected = _from_scratch(system, messages, settings, Ports(Answers(answers), other_shelf))

    turns = list(replay(system, messages, settings, ports))

    assert turns == list(expected)
    assert shelf.saved == other_shelf.saved


@given(SYSTEM, BODIES, SETTINGS, ANSWERS)
def test_every_turn_keeps_the_law_also_when_looked_at_after_the_whole_session(
    system: Message, messages: list[Message], settings: Settings, answer: str | None
) -> None:
    turns = list(replay(system, messages, settings, Ports(Answers([answer]), Shelf())))

    for turn in turns:
        if turn.result is not None:
            assert violations(turn.result.draft, turn.result.before) == []
            assert turn.tokens == estimate(turn.result.before)


def test_a_call_stands_before_each_assistant_message_and_where_one_is_awaited() -> None:
    messages = said(
        ("user", "go"), ("assistant", "", "c1"), ("result", "c1", "x"), ("assistant", "done")
    )

    assert call_positions(messages) == [1, 3]
    assert call_positions([*messages, *said(("user", "more"))]) == [1, 3, 5]
    assert call_positions([]) == []


GROWING = said(
    ("user", "go"),
    *(
        item
        for n in range(12)
        for item in [("assistant", "", f"c{n}"), ("result", f"c{n}", "@rep(line\n,90)")]
    ),
    ("assistant", "done"),
)


def _replayed(rules: RuleBook, window: int, offload_bytes: int) -> list[Turn]:
    settings = Settings(window, offload_bytes=offload_bytes, preview_lines=2, rules=rules)
    settings = replace(settings, offloader_bytes=offload_bytes)
    ports = Ports(Answers(["## Summary\nshort"]), Shelf())
    return list(replay(Message("system", "S"), GROWING, settings, ports))


def _shrank(turns: list[Turn]) -> bool:
    return any(later.tokens < earlier.tokens for earlier, later in pairwise(turns))


def test_in_the_view_rule_book_the_history_shrinks_by_offloads_alone() -> None:
    offloading = _replayed(HARNESS9_VIEW, 1300, 300)
    summarising = _replayed(HARNESS9_VIEW, 1500, 4000)

    assert {turn.written_back for turn in offloading + summarising} == {False}
    assert _shrank(offloading)
    assert Tier.SOFT in {turn.tier for turn in summarising}
    assert not _shrank(summarising)


def test_in_the_write_back_rule_book_a_compaction_is_what_later_calls_build_on() -> None:
    turns = _replayed(HARNESS9_WRITEBACK, 1500, 4000)

    first = next(index for index, turn in enumerate(turns) if turn.written_back)
    assert turns[first].tier is Tier.SOFT
    assert turns[first + 1].tokens < turns[first].tokens


def _lively(count: int) -> list[Message]:
    """Calls and results; every third result is large."""
    found: list[Message] = []
    for number in range(count // 2):
        body = f"{number}\n" * (20 if number % 3 else 400)
        found.append(Message("assistant", f"call {number}", (ToolCall(f"c{number}", "bash"),)))
        found.append(Message("user", body, tool_call_id=f"c{number}"))
    return found


@pytest.mark.parametrize("rules", RULE_BOOKS.values(), ids=RULE_BOOKS)
@pytest.mark.parametrize("answer", ["## Summary\nshort", None], ids=["summary", "failing"])
@pytest.mark.parametrize("window", [600, 4000, 7500])
def test_every_message_is_weighed_once_and_then_only_what_a_call_makes_new(
    rules: RuleBook, answer: str | None, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    weighed = Counter[str]()

    def counting(message: Message) -> int:
        weighed["messages"] += 1
        return message_bytes(message)

    for module in (ledger, budget, tokens):
        monkeypatch.setattr(module, "message_bytes", counting)
    messages = _lively(600)
    settings = Settings(window, offload_bytes=500, offloader_bytes=500, rules=rules)
    ports = Ports(Answers([answer]), Shelf())

    turns = replay(Message("system", "S"), messages, settings, ports)
    results = [turn.result for turn in turns if turn.result]

    kept = sum(slot.fate is Fate.KEPT for result in results for slot in result.draft.slots)
    new = sum(len(result.draft.slots) + len(result.rewritten) for result in results) - kept
    assert len(results) > 10
    # What is new is weighed for the cut, for the record and for the history.
    assert weighed["messages"] <= 1 + len(messages) + 3 * new


def _slots_made(count: int, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Slots made while replaying, and the calls at which something was compacted."""
    made = Counter[str]()
    at = Kept.at

    def counting(self: Kept, index: int) -> Slot:
        made["slots"] += 1
        return at(self, index)

    talk = [(("user", "assistant")[i % 2], "@rep(x,40)") for i in range(count)]
    with monkeypatch.context() as patched:
        patched.setattr(Kept, "at", counting)
        turns = list(
            replay(
                Message("system", "S"), said(*talk), Settings(1000, full=0.9, rules=HARNESS9_VIEW)
            )
        )
    return made["slots"], sum(turn.result is not None for turn in turns)


def test_a_call_at_which_nothing_is_offloaded_does_not_walk_through_the_history(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few, calls = _slots_made(400, monkeypatch)
    many, more_calls = _slots_made(1600, monkeypatch)

    # Per emergency: is the first message the system's, and the two that stay.
    assert (many - few) / (more_calls - calls) <= 4


def test_a_written_back_view_that_lost_only_its_newest_message_has_lost_it() -> None:
    messages = said(
        ("user", "go"),
        ("assistant", "", "c1"),
        ("result", "c1", "@rep(line\n,90)"),
        ("user", ""),
        ("result", "nobody's", ""),
        ("assistant", "so"),
        ("user", "on"),
    )
    settings = Settings(150, offload_bytes=300, offloader_bytes=300, preview_lines=2, min_tail=1)
    settings = replace(settings, soft=5.0, full=6.0, emergency=7.0, rules=HARNESS9_WRITEBACK)
    system = Message("system", "S")

    turns = list(replay(system, messages, settings, Ports(offloads=Shelf())))

    assert [turn.written_back for turn in turns] == [False, True, False]
    assert turns == list(_from_scratch(system, messages, settings, Ports(offloads=Shelf())))


def test_memory_carries_over_from_an_earlier_replay() -> None:
    settings = Settings(
        100, offload_bytes=300, offloader_bytes=300, preview_lines=2, rules=HARNESS9_VIEW
    )
    settings = replace(settings, emergency=50.0, full=40.0, soft=30.0)
    shelf = Shelf()
    system = Message("system", "S")

    *_, last = replay(system, GROWING, settings, Ports(offloads=shelf))
    assert last.result is not None
    list(replay(system, GROWING, settings, Ports(offloads=shelf), last.result.memory))

    assert len(shelf.paths) == len(set(shelf.paths)) > 0


def test_results_that_leave_in_place_though_none_is_large_are_carried_on() -> None:
    batch = (f"c{i}" for i in range(3))
    results = (("result", f"c{i}", "@rep(line\n,700)") for i in range(3))
    messages = said(("user", "go"), ("assistant", "", *batch), *results, ("assistant", "so"))
    system, settings = Message("system", "S"), Settings(2000)

    turns = list(replay(system, messages, settings, Ports(offloads=Shelf())))

    assert [turn.written_back for turn in turns] == [False, True]
    assert turns == list(_from_scratch(system, messages, settings, Ports(offloads=Shelf())))
