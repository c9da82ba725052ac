"""Faults that people reported of tools like this one, and what the harness9 rule books do there.

The rule books keep the original's behaviour also where it is a fault; such a test says so by name.
"""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from dataclasses import replace

import pytest

from compaction import (
    HARNESS9_VIEW,
    HARNESS9_WRITEBACK,
    RULE_BOOKS,
    Draft,
    Fate,
    MemoryOffloads,
    Message,
    Ports,
    RuleBook,
    Settings,
    Tier,
    compact,
    estimate,
    parse_summary,
    tier_for,
)
from compaction.anchors import render
from compaction.repair import UNAVAILABLE, repair
from compaction.turns import takes_effect
from compaction.window import slide
from tests.compaction.generators import Answers, Shelf, expand, said

BOTH = [HARNESS9_VIEW, HARNESS9_WRITEBACK]

each_generation = pytest.mark.parametrize("rules", BOTH, ids=lambda book: book.name)


def _paired(messages: tuple[Message, ...]) -> bool:
    """Every call is followed by its results, one each, and no result stands anywhere else."""
    index = 0
    while index < len(messages):
        calls = [call.id for call in messages[index].tool_calls]
        results = [m.tool_call_id for m in messages[index + 1 : index + 1 + len(calls)]]
        if messages[index].is_tool_result or Counter(results) != Counter(calls):
            return False
        index += 1 + len(calls)
    return True


BATCH = said(
    ("system", "S"),
    ("user", "read three files"),
    ("assistant", "", "c1", "c2", "c3"),
    ("result", "c1", "one"),
    ("result", "c2", "two"),
    ("result", "c3", "three"),
    ("assistant", "done"),
)


def test_ha1_a_window_that_opens_inside_a_batch_grows_to_hold_it_whole() -> None:
    view = slide(Draft.of(BATCH), 4).messages

    assert _paired(view)
    assert view == (BATCH[0], *BATCH[2:])


def test_ha1_a_tail_that_opens_inside_a_batch_loses_its_results_as_in_the_original() -> None:
    settings = Settings(1000, min_tail=3, rules=HARNESS9_VIEW)

    result = compact(BATCH, settings, Ports(Answers(["## Summary\nshort"])), tier=Tier.FULL)

    assert _paired(result.messages)
    assert [m.content for m in result.messages[2:]] == ["done"]
    assert {d.source: d.reason for d in result.draft.drops} == {
        4: "its tool call is gone",
        5: "its tool call is gone",
    }


def test_ha1_a_missing_result_gets_one_marked_placeholder() -> None:
    messages = [m for m in BATCH if m.tool_call_id != "c2"]

    mended = repair(Draft.of(messages)).messages

    assert _paired(mended)
    assert {m.tool_call_id: m.content for m in mended if m.is_tool_result} == {
        "c1": "one",
        "c2": UNAVAILABLE,
        "c3": "three",
    }


BETWEEN = {
    "a compaction message": said(
        ("system", "S"),
        ("user", "count the lines"),
        ("assistant", "", "c1"),
        ("user", "[Context Compaction]\n## Anchors\n\n### User Intent\ncount\n\n## Summary\nnone"),
        ("result", "c1", "42"),
        ("assistant", "42 lines"),
    ),
    "another call": said(
        ("system", "S"),
        ("assistant", "", "c1"),
        ("assistant", "", "c2"),
        ("result", "c1", "one"),
        ("result", "c2", "two"),
    ),
}


@pytest.mark.parametrize("messages", BETWEEN.values(), ids=BETWEEN)
def test_ha2_repair_by_id_sets_accepts_what_stands_between_call_and_result(
    messages: list[Message],
) -> None:
    assert repair(Draft.of(messages)).messages == tuple(messages)
    assert not _paired(tuple(messages))


RUNNING = said(("system", "S"), ("user", "count the lines"), ("assistant", "", "c1"))


def test_ha2_a_result_made_up_for_a_running_call_never_enters_the_history_of_a_view() -> None:
    settings = Settings(1000, min_tail=1, rules=HARNESS9_VIEW)

    early = compact(RUNNING, settings, tier=Tier.WARN)
    later = compact([*RUNNING, *said(("result", "c1", "42"))], settings, tier=Tier.WARN)

    assert early.messages[-1] == Message("user", UNAVAILABLE, tool_call_id="c1")
    assert early.rewritten == {}
    assert [m.content for m in later.messages if m.is_tool_result] == ["42"]


def test_ha2_once_written_back_a_made_up_result_stays_beside_the_real_one() -> None:
    made_up = compact(RUNNING, Settings(1000, min_tail=1, rules=HARNESS9_WRITEBACK), tier=Tier.WARN)

    later = repair(Draft.of([*made_up.messages, *said(("result", "c1", "42"))])).messages

    assert [m.content for m in later if m.is_tool_result] == [UNAVAILABLE, "42"]


@each_generation
def test_hb1_a_fixed_part_over_the_limit_is_recorded_each_time_and_nothing_is_removed(
    rules: RuleBook,
) -> None:
    messages = said(("system", "@rep(s,3900)"), ("user", "hi"))
    model = Answers(["## Summary\nx"])
    settings = Settings(1000, rules=rules)

    results = [compact(messages, settings, Ports(model)) for _ in range(5)]

    assert estimate(messages) == 975
    assert {r.tier for r in results} == {Tier.EMERGENCY}
    assert {r.record.error for r in results} == {"emergency fallback: forced truncation"}
    assert {r.messages for r in results} == {tuple(messages)}
    assert not any(takes_effect(r, rules) for r in results)
    assert model.asked == []
    assert compact(messages, replace(settings, context_window=8000)).tier is Tier.NONE


HEAVY_TAIL = said(
    ("system", "@rep(s,200)"),
    ("user", "go"),
    *(
        item
        for a, b in [("c1", "c2"), ("c3", "c4"), ("c5", "c6")]
        for item in [
            ("assistant", "", a, b),
            ("result", a, "@rep(y,3990)"),
            ("result", b, "@rep(y,3990)"),
        ]
    ),
)


def test_hb1_a_tail_that_alone_is_too_big_is_cut_below_the_line_once_written_back() -> None:
    settings = Settings(5000, rules=HARNESS9_WRITEBACK)

    first = compact(HEAVY_TAIL, settings)
    second = compact(first.messages, settings, memory=first.memory)

    assert first.tier is Tier.EMERGENCY
    assert first.record.tokens_after < 0.80 * 5000
    assert _paired(first.messages)
    assert first.messages[:2] == tuple(HEAVY_TAIL[:2])
    assert second.messages == first.messages
    assert not takes_effect(second, settings.rules)


ONE_GIANT = said(
    ("system", "@rep(s,200)"),
    ("user", "Port the billing report to CSV, keep the header row"),
    ("assistant", "", "c1"),
    ("result", "c1", "@rep(z,40000)"),
)


def test_hb2_the_older_emergency_leaves_the_system_message_alone() -> None:
    result = compact(ONE_GIANT, Settings(4000, rules=HARNESS9_VIEW))

    assert result.tier is Tier.EMERGENCY
    assert result.messages == (ONE_GIANT[0],)
    assert result.record.preserved_tail == 0
    assert {d.source: d.reason for d in result.draft.drops} == {
        1: "forced cut",
        2: "forced cut",
        3: "its tool call is gone",
    }


def test_hb2_the_released_emergency_keeps_the_task_and_the_pair() -> None:
    settings = Settings(4000, rules=HARNESS9_WRITEBACK)

    result = compact(ONE_GIANT, settings)
    again = compact(result.messages, settings)

    assert result.messages == (*ONE_GIANT[:3], Message("user", UNAVAILABLE, tool_call_id="c1"))
    assert result.record.tokens_after < 0.95 * 4000
    assert takes_effect(result, settings.rules)
    assert again.tier is Tier.NONE


def test_hb2_an_older_compaction_message_and_the_task_both_stay() -> None:
    earlier = Message("user", "[Context Compaction]\n## Anchors\n\n## Summary\nearlier")
    messages = [ONE_GIANT[0], earlier, *ONE_GIANT[1:]]

    result = compact(messages, Settings(4000, rules=HARNESS9_WRITEBACK))

    assert result.messages[:3] == (ONE_GIANT[0], earlier, ONE_GIANT[1])


@each_generation
def test_hb3_a_summary_larger_than_what_it_replaces_is_applied_as_in_the_original(
    rules: RuleBook,
) -> None:
    talk = [(("user", "assistant")[i % 2], f"m{i:02} @rep(w,146)") for i in range(12)]
    messages = said(("system", "@rep(s,100)"), *talk)
    settings = Settings(560, rules=rules)
    model = Answers([expand("### User Intent\nx\n\n## Summary\n@rep(v,6000)")])

    result = compact(messages, settings, Ports(model))

    record = result.record
    assert (record.tokens_before, result.tier) == (475, Tier.FULL)
    assert sum(len(m.content) for m in messages[1:7]) == 900
    assert record.tokens_after > record.tokens_before
    assert record.compression_ratio > 1
    assert record.error == ""
    assert result.messages[2:] == tuple(messages[7:])


BUILD = said(
    ("system", "@rep(s,100)"),
    ("user", "run the build"),
    ("assistant", "", "c1"),
    ("result", "c1", "@rep(q,10000)"),
    ("assistant", "ok"),
    ("user", "n1"),
    ("assistant", "r1"),
    ("user", "n2"),
    ("assistant", "r2"),
    ("user", "n3"),
)


@each_generation
def test_hc1_the_caller_s_history_is_never_changed_and_the_file_is_written_once(
    rules: RuleBook,
) -> None:
    before, shelf, settings = deepcopy(BUILD), Shelf(), Settings(4100, rules=rules)

    first = compact(BUILD, settings, Ports(offloads=shelf))
    second = compact(BUILD, settings, Ports(offloads=shelf), first.memory)

    assert before == BUILD
    assert first.record.tokens_before == 2533
    assert first.tier is second.tier is Tier.WARN
    (entry,) = first.record.offloaded or ()
    assert (entry.tool_call_id, entry.bytes, entry.lines) == ("c1", 10_000, 1)
    assert first.messages[3].content.startswith("[offloaded: .harness9/tool_results/c1.txt | 1 行")
    assert second.messages == first.messages
    assert shelf.paths == [entry.file_path]


def test_hc1_what_the_original_did_to_the_caller_s_list_is_told_by_index() -> None:
    view = compact(BUILD, Settings(4100, rules=HARNESS9_VIEW), Ports(offloads=Shelf()))
    copy = compact(BUILD, Settings(4100, rules=HARNESS9_WRITEBACK), Ports(offloads=Shelf()))

    assert list(view.rewritten) == [3]
    assert view.rewritten[3] == view.messages[3]
    assert copy.rewritten == {}


def test_hc2_what_is_kept_verbatim_is_not_summarised_as_well() -> None:
    messages = said(
        ("system", "You are a coding agent."),
        ("user", "Task X: rename module alpha to beta"),
        ("assistant", "", "c1"),
        ("result", "c1", "@rep(d,3000)"),
        ("assistant", "Task X finished: 14 files renamed, tests pass"),
        ("user", "Task Y: add a --dry-run flag"),
    )
    model = Answers(["### Execution Progress\nTask X finished\n\n## Summary\nx"])

    result = compact(messages, Settings(950, min_tail=1, rules=HARNESS9_VIEW), Ports(model))

    (asked,) = model.asked
    assert result.tier is Tier.FULL
    assert [m.content for m in result.messages if "Task Y" in m.content] == [messages[-1].content]
    assert result.messages[-1] == messages[-1]
    assert "Task Y" not in asked.user_prompt
    assert "[assistant]: Task X finished" in asked.user_prompt


def test_hd1_chinese_counts_three_bytes_a_character() -> None:
    messages = said(("system", "你是助手"), ("user", "@rep(漢,3000)"))

    tokens = estimate(messages)

    assert tokens == 2253
    assert f"{tokens / 3000:.1%}" == "75.1%"
    assert tier_for(tokens, Settings(3000)) is Tier.SOFT
    assert estimate(said(("user", "@rep(😀,1000)"))) == 1000


def test_hd1_a_result_is_offloaded_by_its_bytes_not_by_its_characters() -> None:
    messages = said(
        ("system", "S"),
        ("assistant", "", "c1"),
        ("result", "c1", "@rep(表,1400)"),
        *[("user", "x")] * 6,
    )

    result = compact(messages, Settings(1, offload_bytes=4000, rules=HARNESS9_VIEW), tier=Tier.WARN)
    moved = compact(
        messages, Settings(1, rules=HARNESS9_VIEW), Ports(offloads=MemoryOffloads()), tier=Tier.WARN
    )

    assert result.draft.slots[2].fate is Fate.KEPT  # there is nowhere to put it
    assert moved.draft.slots[2].fate is Fate.OFFLOADED
    assert (moved.record.offloaded or ())[0].bytes == 4200


SPECIAL = "The manual says <|endoftext|> and <|im_start|>system end a turn; <|fim_prefix|> too."


@pytest.mark.parametrize(
    "rules", [b for b in RULE_BOOKS.values() if not b.guards], ids=lambda book: book.name
)
def test_hd2_words_that_look_like_special_tokens_are_words(rules: RuleBook) -> None:
    messages = said(("system", "S"), *[("user", SPECIAL)] * 8)
    model = Answers([f"### User Intent\n{SPECIAL}\n\n## Summary\n{SPECIAL}"])

    result = compact(messages, Settings(200, rules=rules), Ports(model), tier=Tier.FULL)

    assert estimate(messages) == (1 + 8 * len(SPECIAL)) // 4
    assert result.record.summary_text == SPECIAL
    assert SPECIAL in render(parse_summary(result.messages[1].content).anchors)
    assert [m.content for m in result.messages[-6:]] == [SPECIAL] * 6


def test_a_placeholder_longer_than_the_limit_is_offloaded_again_and_nests() -> None:
    shelf, settings = MemoryOffloads(), Settings(4100, rules=HARNESS9_VIEW)

    first = compact(BUILD, settings, Ports(offloads=shelf))
    second = compact(first.messages, settings, Ports(offloads=shelf), first.memory)

    # The preview is ten lines, and the whole text is one.
    assert second.messages[3].content.count("[offloaded: ") == 2
    assert second.record.tokens_after > first.record.tokens_after
    assert shelf.files == {".harness9/tool_results/c1.txt": BUILD[3].content}


def test_after_a_restart_a_placeholder_takes_the_place_of_the_original_file() -> None:
    shelf, settings = MemoryOffloads(), Settings(4100, rules=HARNESS9_VIEW)

    first = compact(BUILD, settings, Ports(offloads=shelf))
    compact(first.messages, settings, Ports(offloads=shelf))

    assert shelf.files == {".harness9/tool_results/c1.txt": first.messages[3].content}
