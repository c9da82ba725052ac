"""Each anti-pattern: found where it is, with its evidence, and not where it is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from compaction import (
    HARNESS9_VIEW,
    HARNESS9_WRITEBACK,
    Anchor,
    CompactionRecord,
    Message,
    OffloadEntry,
    Settings,
)
from compaction.anchors import HEADINGS
from compaction.antipatterns import (
    Problem,
    Severity,
    in_messages,
    in_records,
    in_session,
    in_settings,
)
from tests.compaction.generators import said

GOOD = Settings(128_000, rules=HARNESS9_WRITEBACK)


def anchors(**texts: str) -> tuple[Anchor, ...]:
    return tuple(Anchor(kind, texts.get(kind, "N/A")) for kind in HEADINGS)


def soft(before: int, after: int = 400, **fields: object) -> CompactionRecord:
    usual = CompactionRecord(
        tier=2,
        tokens_before=before,
        tokens_after=after,
        compression_ratio=after / before,
        msgs_before=20,
        msgs_after=12,
        summarized=8,
        preserved_tail=11,
    )
    return replace(usual, **fields)  # type: ignore[arg-type]


def rules(problems: list[Problem]) -> list[tuple[str, str, tuple[int, ...]]]:
    assert all(problem.says and problem.advice for problem in problems)
    return [(problem.rule, problem.severity.value, problem.where) for problem in problems]


def test_good_settings_and_a_good_session_have_no_problem() -> None:
    messages = said(("user", "hi"), ("assistant", "", "c1"), ("result", "c1", "fine"))

    assert in_settings(GOOD) == []
    assert in_messages(messages) == []
    assert in_records([soft(700), soft(900)]) == []
    assert in_session(messages, [soft(700), soft(900)]) == []


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"soft": 0.98, "full": 0.99}, ("late-trigger", "error")),
        ({"soft": 0.90, "full": 0.93}, ("late-trigger", "warning")),
        ({"min_tail": 3}, ("recent-rounds-summarised", "warning")),
    ],
)
def test_settings_that_invite_trouble(change: dict[str, float], found: tuple[str, str]) -> None:
    problems = in_settings(replace(GOOD, **change))  # type: ignore[arg-type]

    assert [(p.rule, p.severity) for p in problems] == [found]


def test_the_older_rule_book_cuts_the_task_off() -> None:
    assert rules(in_settings(Settings(128_000, rules=HARNESS9_VIEW))) == [
        ("task-cut-off", "warning", ())
    ]


BATCH = (("assistant", "", "c1", "c2"), ("result", "c1", "1"), ("result", "c2", "2"))
PAIRS: dict[str, tuple[list[Message], tuple[int, ...]]] = {
    "a result without its call": (said(("result", "c9", "x")), (1,)),
    "a message between": (said(BATCH[0], BATCH[1], ("user", "so?"), BATCH[2]), (1, 4)),
    "a result twice": (said(*BATCH, BATCH[2]), (4,)),
    "no result at all": (said(BATCH[0], ("user", "so?")), (1,)),
}


@pytest.mark.parametrize(("messages", "where"), PAIRS.values(), ids=list(PAIRS))
def test_pairs_that_are_broken_by_position(messages: list[Message], where: tuple[int, ...]) -> None:
    assert rules(in_messages(messages)) == [("pairs-broken", "error", where)]


def test_calls_at_the_end_may_still_be_running() -> None:
    assert in_messages(said(*BATCH, ("assistant", "", "c3", "c4"), ("result", "c3", "x"))) == []


def test_large_results_that_stand_in_full() -> None:
    messages = said(("assistant", "", "c1"), ("result", "c1", "@rep(x,10001)"))

    assert rules(in_messages(messages)) == [("large-results-in-view", "warning", (2,))]


def test_summaries_alone_do_not_serve_an_agent_that_lives_off_tools() -> None:
    messages = said(("assistant", "", "c1"), ("result", "c1", "@rep(x,5000)"))

    found = in_session(messages, [soft(700), soft(900)])

    assert rules(found) == [("rolling-summary-for-tools", "warning", (1, 2))]


def emergency(number: int) -> CompactionRecord:
    return soft(1000 + number, 900, tier=4, summarized=0, error="cut", msgs_after=2)


def offloaded(size: int) -> dict[str, object]:
    return {"offloaded": (OffloadEntry("c1", "", "t/c1.txt", size, 9),)}


RECORDS: dict[str, tuple[list[CompactionRecord], str, str, tuple[int, ...]]] = {
    "larger": ([soft(500, 510)], "larger-afterwards", "error", (1,)),
    "recent": ([soft(500, preserved_tail=3)], "recent-rounds-summarised", "warning", (1,)),
    "ratio": ([soft(500, compression_ratio=0.1)], "record-does-not-add-up", "warning", (1,)),
    "every turn": (
        [soft(500 + n) for n in range(5)],
        "compacted-every-turn",
        "warning",
        (1, 2, 3, 4, 5),
    ),
    "oscillation": (
        [soft(500 + 90 * n, tier=1 + n % 2, summarized=0) for n in range(6)],
        "oscillation",
        "warning",
        (2, 3, 4, 5),
    ),
    "erased": (
        [
            soft(500, anchors=anchors(key_decision="use SQLite")),
            soft(900, anchors=anchors(key_decision="- N/A")),
        ],
        "anchor-erased",
        "error",
        (2,),
    ),
    "drift": (
        [
            soft(500, anchors=anchors(user_intent="port the monthly report to Python")),
            soft(900, anchors=anchors(user_intent="fix flaky network tests")),
        ],
        "intent-drift",
        "warning",
        (2,),
    ),
    "over its original": (
        [soft(500, **offloaded(9_000)), soft(900, **offloaded(4_100))],
        "placeholder-offloaded",
        "error",
        (1, 2),
    ),
}


@pytest.mark.parametrize(
    ("records", "rule", "severity", "where"), RECORDS.values(), ids=list(RECORDS)
)
def test_what_compactions_did_wrong(
    records: list[CompactionRecord], rule: str, severity: str, where: tuple[int, ...]
) -> None:
    assert rules(in_records(records)) == [(rule, severity, where)]


def test_emergencies_in_a_row_that_leave_the_task_out() -> None:
    found = in_records([emergency(90 * number) for number in range(3)])

    assert rules(found) == [
        ("task-cut-off", "error", (1, 2, 3)),
        ("emergency-loop", "error", (1, 2, 3)),
    ]


def test_the_same_result_offloaded_again_in_full_is_no_problem() -> None:
    assert in_records([soft(500, **offloaded(9_000)), soft(900, **offloaded(9_000))]) == []


def test_severities_are_words_for_scripts() -> None:
    assert set(Severity) == {"error", "warning"}
