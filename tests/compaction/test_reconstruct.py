"""Compactions are rebuilt from rows and records as they were, or said to be out of reach."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compaction import CompactionResult, Message, Settings, ToolCall
from compaction.provenance import violations
from compaction.reconstruct import (
    Evidence,
    Generation,
    Reconstruction,
    StoredRow,
    Verdict,
    reconstruct,
)
from compaction.rules import HARNESS9_VIEW, HARNESS9_WRITEBACK, HARNESS9_WRITEBACK_EARLY, RuleBook
from compaction.tokens import message_bytes
from tests.agent import Agent, Run, Turn

SYSTEM = Message("system", "You are careful. " * 20)
SESSION = "1c0ffee1"


def agent(rules: RuleBook = HARNESS9_VIEW, window: int = 12_000) -> Agent:
    return Agent(Settings(window, session_id=SESSION, rules=rules), SYSTEM)


def account_of(agent: Agent) -> Reconstruction:
    records = [one.result.record for one in agent.compactions]
    return reconstruct(agent.stored, records, agent.original_of)


class Script:
    """Writes runs; every message is different and every call id new."""

    def __init__(self) -> None:
        self.numbers = itertools.count(1)

    def turn(self, *sizes: int, lines: int = 20, fails: bool = False) -> Turn:
        """A call of one tool per size; the results have about that many bytes."""
        calls = tuple(ToolCall(f"c{next(self.numbers)}", "bash", '{"n":1}') for _ in sizes)
        results = [
            Message("user", self.text(size, lines), (), call.id)
            for call, size in zip(calls, sizes, strict=True)
        ]
        return Turn(Message("assistant", self.text(40), calls), results, fails)

    def end(self) -> Turn:
        return Turn(Message("assistant", self.text(30)))

    def text(self, size: int, lines: int = 1) -> str:
        number = next(self.numbers)
        line = f"{number} 漢 " + "x" * (size // lines) + "y" * (number * 7 % 31)
        return "\n".join([line] * lines)

    def run(self, *turns: Turn, lost: bool = False, restart: bool = False) -> Run:
        human = Message("user", self.text(60 + 8 * next(self.numbers)))
        return Run(human, (*turns, self.end()), lost, restart)


def proven(agent: Agent, account: Reconstruction) -> None:
    """Every view of a saved run is what the compaction really was; the others are unavailable."""
    for real, verdict in zip(agent.compactions, account.verdicts, strict=True):
        if not real.was_saved:
            assert verdict.evidence is Evidence.UNAVAILABLE, verdict.reason
            assert "never saved" in verdict.reason
            continue
        assert verdict.evidence is Evidence.VERIFIED, verdict.reason
        is_as_it_was(verdict, real.result)


def is_as_it_was(verdict: Verdict, real: CompactionResult) -> None:
    """The view is lawful and, where it claims to know, exactly what happened."""
    view = verdict.view()
    assert view is not None
    assert violations(view.draft, view.before) == []
    known = [i for i in range(len(view.before)) if i not in view.unknown]
    assert [view.before[i] for i in known] == [real.before[i] for i in known]
    for mine, its in zip(view.draft.slots, real.draft.slots, strict=True):
        assert mine.message == its.message or view.unknown.intersection(mine.sources)
    assert [(s.fate, s.sources) for s in view.draft.slots] == [
        (s.fate, s.sources) for s in real.draft.slots
    ]
    assert view.draft.drops == real.draft.drops


def test_every_tier_of_a_growing_session_is_rebuilt() -> None:
    script, one = Script(), agent()

    one.run(script.run(*(script.turn(1500) for _ in range(40))))

    account = account_of(one)
    assert {v.record.tier for v in account.verdicts} == {1, 2, 3, 4}
    proven(one, account)
    assert account.generation is Generation.VIEW
    assert account.system is not None
    assert account.system.low <= message_bytes(SYSTEM) <= account.system.high


def test_a_result_offloaded_in_its_own_run_stands_for_its_original_until_then() -> None:
    script, one = Script(), agent()

    one.run(script.run(script.turn(9000), *(script.turn(1500) for _ in range(14))))

    proven(one, account_of(one))
    assert any(v.record.offloaded for v in account_of(one).verdicts)
    assert any("[offloaded:" in row.message.content for row in one.stored)


def test_a_result_of_an_earlier_run_is_offloaded_again_in_every_run() -> None:
    script, one = Script(), agent(window=14_000)
    one.run(script.run(script.turn(3000), script.turn(9000), script.turn(2000)))

    for _ in range(3):
        one.run(script.run(*(script.turn(1500) for _ in range(5))))

    account = account_of(one)
    proven(one, account)
    listed = [e.tool_call_id for v in account.verdicts for e in v.record.offloaded or ()]
    assert max(map(listed.count, listed)) > 1


def test_a_placeholder_that_is_offloaded_again_is_peeled_layer_by_layer() -> None:
    script, one = Script(), agent(window=14_000)

    one.run(script.run(script.turn(12_000, lines=1), *(script.turn(1500) for _ in range(16))))

    account = account_of(one)
    proven(one, account)
    assert sum(len(v.record.offloaded or ()) for v in account.verdicts) > 2


def test_an_original_lost_to_a_restart_is_known_by_its_size() -> None:
    script, one = Script(), agent(window=14_000)
    one.run(script.run(script.turn(12_000, lines=14), *(script.turn(1500) for _ in range(12))))

    one.run(script.run(*(script.turn(500) for _ in range(4)), restart=True))

    account = account_of(one)
    proven(one, account)
    views = [v.view() for v in account.verdicts]
    assert any(view and view.unknown != {0} for view in views)
    assert any("is gone; only their size is known" in v.reason for v in account.verdicts)


@pytest.mark.parametrize("tier", ["Soft", "Full"])
def test_failed_summaries_and_what_they_offload_unseen_are_rebuilt(tier: str) -> None:
    script, one = Script(), agent()
    turns = [script.turn(1000, 4500, fails=True) for _ in range(12)]

    one.run(script.run(*turns, *(script.turn(700, fails=True) for _ in range(12))))

    account = account_of(one)
    assert any(v.record.error.endswith(tier) for v in account.verdicts)
    proven(one, account)


def test_lost_runs_are_recognised_wherever_they_are() -> None:
    script, one = Script(), agent()
    one.run(script.run(*(script.turn(1500) for _ in range(12)), lost=True))
    one.run(script.run(*(script.turn(1500) for _ in range(17))))
    one.run(script.run(*(script.turn(1000) for _ in range(3)), lost=True))
    one.run(script.run(*(script.turn(1300) for _ in range(3))))
    one.run(script.run(*(script.turn(900) for _ in range(2)), lost=True))

    account = account_of(one)

    assert {c.was_saved for c in one.compactions} == {True, False}
    proven(one, account)
    assert account.generation is Generation.VIEW


def test_moving_results_of_a_saved_run_does_not_prove_that_the_mover_was_saved() -> None:
    script, one = Script(), agent(window=14_000)
    one.run(script.run(script.turn(3000), script.turn(9000), *(script.turn(2000),) * 3))
    lost = script.run(script.turn(100), lost=True)
    one.run(replace(lost, human=Message("user", "a very long question " * 700)))

    one.run(script.run(*(script.turn(100) for _ in range(3))))

    (verdict,) = account_of(one).verdicts
    assert verdict.record.offloaded
    assert verdict.evidence is not Evidence.VERIFIED


def test_records_that_later_calls_should_have_followed_are_of_a_lost_run() -> None:
    script, one = Script(), agent(window=14_000)
    one.run(script.run(*(script.turn(2500) for _ in range(9))))
    lost = script.run(script.turn(100), script.turn(100), lost=True)
    one.run(replace(lost, human=Message("user", "a very long question " * 500)))

    one.run(script.run(*(script.turn(10) for _ in range(7))))

    account = account_of(one)
    assert [c.was_saved for c in one.compactions] == [False] * 3
    proven(one, account)
    assert account.system is None


def test_a_changed_system_prompt_is_noticed_and_does_not_lose_the_run() -> None:
    script, one = Script(), agent()
    one.run(script.run(*(script.turn(1500) for _ in range(16))))
    one.system = Message("system", SYSTEM.content + "And now something new.")

    one.run(script.run(*(script.turn(1500) for _ in range(4))))

    account = account_of(one)
    proven(one, account)
    assert any("in other runs it has" in v.reason for v in account.verdicts)


def test_a_window_is_found_that_explains_every_tier() -> None:
    script, one = Script(), agent(window=12_345)

    one.run(script.run(*(script.turn(1500, fails=n % 3 == 0) for n in range(40))))

    window = account_of(one).window
    assert window is not None
    assert window.low <= 12_345 <= window.high
    assert window.high - window.low < 600


def test_another_tail_is_told_by_the_records() -> None:
    script, one = Script(), agent()
    one.settings = replace(one.settings, min_tail=10)

    one.run(script.run(*(script.turn(1500, fails=n % 2 == 0) for n in range(30))))

    account = account_of(one)
    assert account.tail == 10
    proven(one, account)


def test_a_single_record_that_changed_nothing_is_not_called_verified() -> None:
    script, one = Script(), agent(window=2400)
    one.run(script.run(script.turn(2900), script.turn(2900)))
    (record,) = [c.result.record for c in one.compactions]

    (verdict,) = account_of(one).verdicts

    assert record.tokens_after == record.tokens_before
    assert verdict.evidence is Evidence.UNVERIFIED
    assert "nothing checks it" in verdict.reason


def test_rows_that_were_tampered_with_are_not_called_verified() -> None:
    script, one = Script(), agent()
    one.run(script.run(*(script.turn(1500) for _ in range(20))))
    rows = list(one.stored)
    last = len(rows) - 4
    rows[last] = replace(rows[last], message=replace(rows[last].message, content="shorter"))

    account = reconstruct(rows, [c.result.record for c in one.compactions])

    assert account.verdicts[-1].evidence is Evidence.UNVERIFIED
    assert account.verdicts[0].evidence is Evidence.VERIFIED


def test_nothing_to_go_by_is_said_so() -> None:
    assert reconstruct([], []).generation is Generation.UNKNOWN


def test_records_without_any_rows_are_unavailable() -> None:
    script, one = Script(), agent()
    one.run(script.run(*(script.turn(1500) for _ in range(20)), lost=True))

    account = account_of(one)

    assert {v.evidence for v in account.verdicts} == {Evidence.UNAVAILABLE}
    assert all(v.view() is None for v in account.verdicts)
    assert account.system is None or account.generation is not Generation.VIEW


def test_rows_without_records_are_classic() -> None:
    rows = [StoredRow(Message("user", "hello"), 1), StoredRow(Message("assistant", "hi"), 1)]

    account = reconstruct(rows, [])

    assert account.generation is Generation.CLASSIC
    assert "no compaction records" in account.generation_reason


@pytest.mark.parametrize("rules", [HARNESS9_WRITEBACK, HARNESS9_WRITEBACK_EARLY])
def test_of_a_written_back_session_only_what_is_still_there_is_shown(rules: RuleBook) -> None:
    script, one = Script(), agent(rules)

    one.run(script.run(*(script.turn(1500, 700) for _ in range(30))))

    account = account_of(one)
    assert account.generation is Generation.WRITE_BACK
    for real, verdict in zip(one.compactions, account.verdicts, strict=True):
        view = verdict.view()
        if view is None:
            assert verdict.evidence is Evidence.UNAVAILABLE
            continue
        assert violations(view.draft, view.before) == []
        assert view.draft.messages[1:] == real.result.messages[1:]
        assert len(view.before) == len(real.result.before)
        known = [i for i in range(len(view.before)) if i not in view.unknown]
        assert [view.before[i] for i in known] == [real.result.before[i] for i in known]
    assert any(v.is_rebuilt for v in account.verdicts)


def test_offloads_that_were_written_back_are_undone_from_their_files() -> None:
    script, one = Script(), agent(HARNESS9_WRITEBACK, window=40_000)

    one.run(script.run(*(script.turn(5000, lines=200) for _ in range(60))))

    account = account_of(one)
    assert account.generation is Generation.WRITE_BACK
    assert {v.record.tier for v in account.verdicts} == {1}
    assert len(account.verdicts) > 4
    proven(one, account)


def test_after_a_manual_compaction_of_a_view_session_both_sides_are_told() -> None:
    script, one = Script(), agent()
    one.run(script.run(*(script.turn(1500) for _ in range(20))))
    one.settings = replace(one.settings, rules=HARNESS9_WRITEBACK)
    one.run(script.run())
    one.settings = replace(one.settings, rules=HARNESS9_VIEW)
    manual = len(one.compactions)

    one.run(script.run(*(script.turn(1500) for _ in range(16))))

    account = account_of(one)
    assert account.generation is Generation.VIEW
    assert {v.evidence for v in account.verdicts[manual:]} == {Evidence.VERIFIED}
    assert account.verdicts[manual - 1].evidence is Evidence.UNVERIFIED
    assert {v.evidence for v in account.verdicts[: manual - 1]} == {Evidence.UNAVAILABLE}


@st.composite
def sessions(draw: st.DrawFn, rules: RuleBook, restarts: bool) -> Agent:
    script = Script()
    one = agent(rules, window=draw(st.integers(4000, 16_000)))
    sizes = st.lists(st.sampled_from([0, 30, 700, 1500, 3900, 4100, 9000]), max_size=3)
    lines = st.sampled_from([1, 3, 14, 40])
    for _ in range(draw(st.integers(1, 4))):
        turns = [
            script.turn(*draw(sizes), lines=draw(lines), fails=draw(st.booleans()))
            for _ in range(draw(st.integers(1, 12)))
        ]
        lost = draw(st.integers(0, 4)) == 0
        one.run(script.run(*turns, lost=lost, restart=restarts and draw(st.booleans())))
    return one


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(sessions(HARNESS9_VIEW, restarts=False))
def test_whatever_a_view_session_did_is_rebuilt(one: Agent) -> None:
    account = account_of(one)

    for real, verdict in zip(one.compactions, account.verdicts, strict=True):
        if not real.was_saved:
            assert verdict.evidence is not Evidence.VERIFIED
        elif verdict.evidence is not Evidence.VERIFIED:
            assert "nothing checks it" in verdict.reason
        else:
            is_as_it_was(verdict, real.result)


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from([HARNESS9_VIEW, HARNESS9_WRITEBACK]).flatmap(
        lambda rules: sessions(rules, restarts=True)
    )
)
def test_nothing_is_called_verified_that_was_otherwise(one: Agent) -> None:
    account = account_of(one)

    for real, verdict in zip(one.compactions, account.verdicts, strict=True):
        if verdict.evidence is Evidence.VERIFIED:
            is_as_it_was(verdict, real.result)
        elif (view := verdict.view()) is not None:
            assert violations(view.draft, view.before) == []
