"""Faults that people reported of tools like this one, and that the safe rule book does not have."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import pytest

from compaction import (
    SAFE,
    CompactionResult,
    Draft,
    Fate,
    Memory,
    Message,
    Ports,
    Settings,
    SummaryLimits,
    SummaryRequest,
    Tier,
    ToolCall,
    compact,
    estimate,
    takes_effect,
    violations,
)
from compaction.pairs import broken_pairs, mend
from compaction.rounds import is_persons
from tests.compaction.generators import Answers, Shelf, said

GOOD = "## Anchors\n\n### User Intent\nport it\n\n### Next Steps\nrun it\n\n## Summary\nshort"


def safe(window: int, **changes: Any) -> Settings:
    return replace(Settings(window, session_id="s1", rules=SAFE), **changes)


def world(*answers: str | None) -> tuple[Ports, Answers, Shelf]:
    model, shelf = Answers(list(answers)), Shelf()
    return Ports(model, shelf), model, shelf


def contents(result: CompactionResult) -> list[str]:
    return [message.content for message in result.messages]


def check(result: CompactionResult) -> None:
    """What holds of every run: valid pairs, an account of everything, nothing larger."""
    assert broken_pairs(result.messages) == []
    assert violations(result.draft, result.before) == []
    assert result.record.tokens_after <= result.record.tokens_before
    persons = [message for message in result.before if is_persons(message)]
    assert [m for m in result.messages if is_persons(m)][-1:] == persons[-1:]
    assert [m for m in result.messages if m.is_system] == [m for m in result.before if m.is_system]


def check_once(result: CompactionResult, settings: Settings, ports: Ports) -> None:
    """The outcome again, with nothing new, is left alone."""
    model, shelf = ports.summariser, ports.offloads
    assert isinstance(model, Answers)
    assert isinstance(shelf, Shelf)
    asked, saved = len(model.asked), len(shelf.saved)

    again = compact(result.messages, settings, ports, result.memory)

    assert again.messages == result.messages
    assert again.tier is Tier.NONE
    assert (len(model.asked), len(shelf.saved)) == (asked, saved)


# A: tool pairs

BATCH = said(
    ("system", "S"),
    ("user", "read three files"),
    ("assistant", "", "c1", "c2", "c3"),
    ("result", "c1", "one"),
    ("result", "c2", "two"),
    ("result", "c3", "three"),
    ("assistant", "done"),
)


@pytest.mark.parametrize("tier", [Tier.SOFT, Tier.FULL, Tier.EMERGENCY])
@pytest.mark.parametrize("tail", range(1, 7))
def test_ha1_a_batch_is_kept_whole_or_left_out_whole(tail: int, tier: Tier) -> None:
    ports, _, _ = world(GOOD)

    result = compact(BATCH, safe(30, min_tail=tail), ports, tier=tier)

    check(result)


def test_ha1_a_missing_result_gets_one_placeholder_and_the_others_stay() -> None:
    messages = [m for m in BATCH if m.tool_call_id != "c2"]

    result = compact(messages, safe(10_000))

    assert broken_pairs(result.messages) == []
    assert (contents(result)[3], contents(result)[5]) == ("one", "three")


def test_ha2_the_real_result_is_moved_to_its_call_past_a_compaction_message() -> None:
    earlier = "[Context Compaction]\n## Anchors\n\n### User Intent\ncount\n\n## Summary\nnone"
    messages = said(
        ("system", "S"),
        ("user", "count the lines"),
        ("assistant", "", "c1"),
        ("user", earlier),
        ("result", "c1", "42"),
        ("assistant", "42 lines"),
    )

    result = compact(messages, safe(10_000))

    check(result)
    assert contents(result) == ["S", "count the lines", "", "42", earlier, "42 lines"]


def test_ha2_a_call_that_still_runs_gets_its_result_when_it_arrives() -> None:
    running = said(("system", "S"), ("user", "go"), ("assistant", "", "c1"))

    first = compact(running, safe(4), Ports(), tier=Tier.EMERGENCY)
    later = compact([*first.messages, *said(("result", "c1", "42"))], safe(10_000))

    assert [m.content for m in first.messages if m.is_tool_result] == []
    assert [m.content for m in later.messages if m.is_tool_result] == ["42"]


# B: loops and growth


def test_hb1_a_fixed_part_over_the_limit_is_one_recorded_failure_that_names_its_share() -> None:
    messages = said(("system", "@rep(s,3900)"), ("user", "hi"))
    ports, model, _ = world(GOOD)
    memory, records = Memory(), []

    for _turn in range(5):
        result = compact(messages, safe(1000), ports, memory)
        memory = result.memory
        if result.tier is not Tier.NONE:
            records.append(result.record)
        check(result)
        assert result.messages == tuple(messages)

    (record,) = records
    assert record.error.endswith(
        "the system message, the task and the newest human line alone take 97.5% of the window "
        "(975 of 1,000 tokens)"
    )
    assert model.asked == []
    assert compact(messages, safe(8000), ports, memory).fallback == ""


def test_hb1_a_tail_that_is_too_big_is_brought_below_the_lowest_line_at_once() -> None:
    rounds = [
        message
        for n in range(3)
        for message in said(
            ("assistant", "", f"a{n}", f"b{n}"),
            ("result", f"a{n}", "@rep(y,3990)"),
            ("result", f"b{n}", "@rep(y,3990)"),
        )
    ]
    messages = said(("system", "@rep(s,200)"), ("user", "go")) + rounds
    ports, _, _ = world(GOOD)

    result = compact(messages, safe(5000), ports)

    check(result)
    assert estimate(result.messages) / 5000 < 0.60
    assert result.messages[-3:] == tuple(messages[-3:])
    check_once(result, safe(5000), ports)


PORT = "Port the billing report to CSV, keep the header row"
HUGE = said(("assistant", "", "c1"), ("result", "c1", "@rep(z,40000)"))
EARLIER = "[Context Compaction]\n## Anchors\n\n### User Intent\nolder\n\n## Summary\nolder"


@pytest.mark.parametrize("before", [[], [EARLIER]], ids=["", "after a compaction"])
def test_hb2_an_emergency_keeps_the_task_and_a_preview_of_what_was_too_large(
    before: list[str],
) -> None:
    humans = [("user", text) for text in [*before, PORT]]
    messages = said(("system", "@rep(s,200)"), *humans) + HUGE
    ports, _, shelf = world()

    result = compact(messages, safe(4000), ports)

    check(result)
    assert result.tier is Tier.EMERGENCY
    assert contents(result)[1:-2] == [*before, PORT]
    assert len(contents(result)[-1].encode()) <= 2000
    assert [content for _, content in shelf.saved] == [messages[-1].content]
    assert shelf.paths[0] in contents(result)[-1]
    assert estimate(result.messages) < 4000 * 0.80
    check_once(result, safe(4000), ports)


def test_hb2_without_a_place_for_files_a_preview_names_none() -> None:
    messages = said(("system", "S"), ("user", PORT)) + HUGE

    result = compact(messages, safe(4000), Ports())

    check(result)
    assert result.draft.slots[-1].fate is Fate.TRIMMED
    assert "kept nowhere" in contents(result)[-1]


TWELVE = said(
    ("system", "@rep(s,100)"),
    *[(("user", "assistant")[n % 2], f"m{n:02} @rep(w,146)") for n in range(12)],
)


def test_hb3_a_summary_larger_than_its_source_is_not_applied() -> None:
    ports, model, _ = world(GOOD.replace("short", "v" * 6000))

    result = compact(TWELVE, safe(560), ports)

    check(result)
    assert len(model.asked) == 1
    assert result.record.error.startswith("LLM summary failed in TierFull: the summary is no small")
    assert result.memory.summary == ""
    assert result.messages[-6:] == tuple(TWELVE[-6:])
    check_once(result, safe(560), ports)


# C: lost intent

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


def test_hc1_the_caller_s_list_is_untouched_and_no_file_is_written_twice() -> None:
    before = deepcopy(BUILD)
    ports, _, shelf = world()

    first = compact(BUILD, safe(4100), ports)
    second = compact(BUILD, safe(4100), ports, first.memory)

    assert before == BUILD
    assert first.tier is second.tier is Tier.WARN
    (entry,) = first.record.offloaded or ()
    assert (entry.bytes, entry.lines) == (10_000, 1)
    assert second.messages == first.messages
    assert len(shelf.saved) == 1
    assert takes_effect(first, SAFE)


def test_hc2_the_newest_task_is_kept_word_for_word_and_not_summarised_as_well() -> None:
    messages = said(
        ("system", "You are a coding agent."),
        ("user", "Task X: rename module alpha to beta"),
        ("assistant", "", "c1"),
        ("result", "c1", "@rep(d,3000)"),
        ("assistant", "Task X finished: 14 files renamed, tests pass"),
        ("user", "Task Y: add a --dry-run flag"),
    )
    answer = "### Execution Progress\nTask X finished\n### Next Steps\nN/A\n## Summary\nx"
    ports, model, _ = world(answer)

    result = compact(messages, safe(950, min_tail=1), ports)

    check(result)
    (asked,) = model.asked
    assert result.tier is Tier.FULL
    assert sum("Task Y" in text for text in contents(result)) == 1
    assert "Task Y" not in asked.user_prompt
    assert "Task X finished" in asked.user_prompt
    anchors = {a.kind: a.content for a in result.record.anchors or ()}
    assert (anchors["execution_progress"], anchors["next_step"]) == ("Task X finished", "N/A")


# D: counting


def test_hd1_bytes_are_counted_and_decide_what_is_offloaded() -> None:
    messages = said(
        ("system", "S"), ("user", "go"), ("assistant", "", "c1"), ("result", "c1", "@rep(表,1400)")
    )
    messages += said(*[("user", "x")] * 6)
    ports, _, shelf = world()

    result = compact(messages, safe(1700), ports)

    assert result.tier is Tier.WARN
    assert [entry.bytes for entry, _ in shelf.saved] == [4200]


SPECIAL = "The manual says <|endoftext|> and <|im_start|>system end a turn; <|fim_prefix|> too."


def test_hd2_words_that_look_like_special_tokens_are_words() -> None:
    messages = said(("system", "S"), ("user", SPECIAL), *[("assistant", SPECIAL * 9)] * 8)
    ports, _, _ = world(f"### User Intent\n{SPECIAL}\n\n## Summary\n{SPECIAL}")

    result = compact(messages, safe(2000), ports, tier=Tier.FULL)

    assert result.record.summary_text == SPECIAL
    assert contents(result)[1] == SPECIAL


# E: failing summaries


@dataclass
class Clock:
    """A clock that a test moves."""

    now: int = 0

    def __call__(self) -> int:
        return self.now


@dataclass
class Model:
    """A summariser of one function."""

    summarise: Callable[[SummaryRequest], Message | None]


LONG = said(
    ("system", "S"),
    ("user", "go"),
    *[("assistant", f"step {n} @rep(w,2000)") for n in range(20)],
    ("user", "on"),
    *[("assistant", "so")] * 6,
)


def test_he1_a_deadline_covers_all_questions_and_what_was_known_stays() -> None:
    clock = Clock()

    def slow(_request: SummaryRequest) -> Message:
        clock.now += 20 * 10**9
        return Message("assistant", GOOD)

    known = Memory("before", compact(LONG, safe(12_000), world(GOOD)[0]).memory.anchors)
    limits = SummaryLimits(input_bytes=20_000, seconds=30)
    ports = Ports(Model(slow), Shelf(), nanoseconds=clock)

    result = compact(LONG, safe(12_000, summary=limits), ports, known)

    check(result)
    assert "no summary within 30 s" in result.record.error
    assert (result.memory.summary, result.memory.anchors) == ("before", known.anchors)
    assert estimate(result.messages) / 12_000 < 0.60


def test_he1_a_cancelled_run_asks_no_more() -> None:
    model = Answers([GOOD])

    result = compact(LONG, safe(12_000), Ports(model, cancelled=lambda: True))

    check(result)
    assert model.asked == []
    assert "cancelled" in result.record.error


FAILURES: dict[str, Message | None] = {
    "empty": Message("assistant", ""),
    "blank": Message("assistant", "  \n"),
    "none": None,
    "only a tool call": Message("assistant", "", (ToolCall("c1", "bash", "{}"),)),
    "an evasion": Message("assistant", "I don't see any conversation to summarise."),
    "nothing five times": Message("assistant", "### User Intent\nN/A\n\n## Summary\nN/A"),
}


@pytest.mark.parametrize("answer", FAILURES.values(), ids=FAILURES)
def test_he2_an_answer_that_is_no_summary_is_a_failure(answer: Message | None) -> None:
    result = compact(LONG, safe(12_000), Ports(Model(lambda _: answer)))

    check(result)
    assert result.record.error.startswith("LLM summary failed in TierFull")
    assert result.memory.summary == ""
    assert not any(slot.fate is Fate.SUMMARISED for slot in result.draft.slots)


def test_he2_an_exception_is_a_failure_with_its_words() -> None:
    ports, _, _ = world(None)

    result = compact(LONG, safe(12_000), ports)

    check(result)
    assert "no model today" in result.record.error


def test_he2_text_without_anchors_is_kept_as_text_with_a_warning() -> None:
    ports, _, _ = world("The report was ported and its tests pass.")

    result = compact(LONG, safe(12_000), ports)

    check(result)
    assert result.record.summary_text == "The report was ported and its tests pass."
    assert result.record.error == "the summary fills none of the five anchors"


def test_he2_with_nothing_to_summarise_nobody_is_asked() -> None:
    ports, model, _ = world(GOOD)

    compact(TWELVE[:4], safe(560), ports, tier=Tier.FULL)

    assert model.asked == []


def test_he3_questions_stay_below_their_limit_and_nothing_is_sent_twice() -> None:
    old = [("assistant", f"old{n:03} @rep(h,8000)") for n in range(400)]
    messages = said(("system", "S"), ("user", "go"), *old, *[("assistant", "so")] * 6)
    ports, model, _ = world(GOOD)

    first = compact(messages, safe(900_000), ports)
    sizes = [len(asked.user_prompt) for asked in model.asked]
    model.asked.clear()
    new = said(*[("assistant", f"new{n} @rep(h,200000)") for n in range(16)])
    second = compact([*first.messages, *new], safe(900_000), ports, first.memory)

    check(first)
    check(second)
    assert first.record.error == second.record.error == ""
    assert len(sizes) <= 4
    assert max(sizes) <= 400_000
    assert model.asked
    assert not any("old" in asked.conversation for asked in model.asked)


def test_he3_a_caller_that_keeps_the_whole_conversation_is_not_asked_about_it_again() -> None:
    def steps(name: str, count: int) -> list[Message]:
        return said(*[("assistant", f"{name}{n:03} @rep(h,800)") for n in range(count)])

    messages = [*said(("system", "S"), ("user", "go")), *steps("old", 60)]
    ports, model, _ = world(GOOD)
    first = compact(messages, safe(14_000), ports)
    model.asked.clear()

    little = compact([*messages, *steps("new", 8)], safe(14_000), ports, first.memory)
    asked_for_little = len(model.asked)
    much = compact([*messages, *steps("new", 48)], safe(14_000), ports, little.memory)

    check(little)
    check(much)
    assert little.record.error == much.record.error == ""
    assert little.messages[:3] == first.messages[:3]  # the summary, and a prompt cache, still hold
    assert asked_for_little == 0
    (asked,) = model.asked
    assert "old000" not in asked.conversation
    assert "new000" in asked.conversation


# F: large outputs

GIANT = {
    "rows": '{"rows":[' + '"x",' * 50_000 + '"x"]}',
    "image": "data:image/png;base64," + "QUJD" * 87_500,
}


def with_result(content: str, call_id: str = "c1") -> list[Message]:
    return [
        *said(("system", "S"), ("user", "go"), ("assistant", "", call_id)),
        Message("user", content, tool_call_id=call_id),
        *said(*[("assistant", "so")] * 6),
    ]


@pytest.mark.parametrize("content", GIANT.values(), ids=GIANT)
def test_hf1_one_giant_line_leaves_a_bounded_preview(content: str) -> None:
    ports, _, shelf = world()

    result = compact(with_result(content), safe(1_000), ports, tier=Tier.WARN)

    check(result)
    ((entry, saved),) = shelf.saved
    text = result.messages[3].content
    assert (entry.bytes, entry.lines, saved) == (len(content), 1, content)
    assert len(text.encode()) <= 2000
    assert f"{entry.file_path} | 1 行 / {len(content)} bytes" in text


@pytest.mark.parametrize("offset", range(-4, 5))
@pytest.mark.parametrize("char", ["🦊", "界"])
def test_hf2_a_preview_is_cut_between_characters(char: str, offset: int) -> None:
    content = "a" * (1200 - 1 + offset) + char + "b" * 5000
    ports, _, _ = world()

    result = compact(with_result(content), safe(1_000), ports, tier=Tier.WARN)

    text = result.messages[3].content
    assert len(text.encode()) <= 2000
    assert "\ufffd" not in text


def test_hf2_a_lone_surrogate_is_replaced_and_said_so() -> None:
    content = json.loads('"tail \\ud83d"') + "x" * 5000
    ports, _, shelf = world()

    result = compact(with_result(content), safe(1_000), ports, tier=Tier.WARN)

    ((_, saved),) = shelf.saved
    assert saved.encode() == content.replace("\ud83d", "\ufffd").encode()
    result.messages[3].content.encode()
    assert "replaced" in result.notes[0]


ODD_IDS = ["../../outside", "a/b", "a_b", "CON", "x\u0000y", "A_B", "c" * 300, "漢"]


def test_hf3_ids_become_names_inside_the_folder_that_no_other_has() -> None:
    calls = tuple(ToolCall(one, "bash", "{}") for one in ODD_IDS)
    results = [Message("user", f"{n}" * 5000, tool_call_id=one) for n, one in enumerate(ODD_IDS)]
    messages = [
        *said(("system", "S"), ("user", "go")),
        Message("assistant", "", calls),
        *results,
        *said(*[("assistant", "so")] * 6),
    ]
    ports, _, shelf = world()

    result = compact(messages, safe(1_000), ports, tier=Tier.WARN)

    check(result)
    assert [entry.tool_call_id for entry in result.record.offloaded or ()] == ODD_IDS[::-1]
    assert len({path.lower() for path in shelf.paths}) == len(ODD_IDS)
    for path in shelf.paths:
        assert path.startswith(".harness9/tool_results/s1/")
        assert "/" not in path.removeprefix(".harness9/tool_results/s1/")
        assert len(path) < 120
    for entry, content in shelf.saved:
        (shown,) = [m for m in result.messages if entry.file_path in m.content]
        assert content == results[ODD_IDS.index(shown.tool_call_id)].content


def test_hf3_what_a_disk_refuses_stays_in_place_and_the_reason_is_told() -> None:
    class Full:
        def save(self, *_: object) -> None:
            raise OSError("no space left")

    messages = with_result("x" * 5000)

    result = compact(messages, safe(1_000), Ports(offloads=Full()), tier=Tier.WARN)

    assert result.messages == tuple(messages)
    assert "no space left" in result.notes[0]


# S: strategies


def test_hs1_the_newest_results_go_first_and_only_as_many_as_must() -> None:
    calls = [
        message
        for n in range(20)
        for message in said(("assistant", "", f"c{n}"), ("result", f"c{n}", "@rep(k,3000)"))
    ]
    messages = said(("system", "S"), ("user", "go")) + calls
    settings = safe(int(estimate(messages) / 0.65), offload_bytes=2000)
    ports, _, _ = world()

    result = compact(messages, settings, ports)

    check(result)
    moved = [i for i, slot in enumerate(result.draft.slots) if slot.fate is Fate.OFFLOADED]
    assert 0.50 < estimate(result.messages) / settings.context_window <= 0.55
    assert moved == list(range(moved[0], 36, 2))
    assert result.first_change == moved[0]
    assert result.messages[: moved[0]] == tuple(messages[: moved[0]])
    check_once(result, settings, ports)


# Anchors

DRESSES = {
    "fenced": "```markdown\n### User Intent\nport it\n\n## Summary\nshort\n```",
    "fenced after a greeting": "Here:\n```\n### User Intent\nport it\n```",
    "bold": "**User Intent**\nport it\n\n**Summary**\nshort",
    "lower case, Windows": "## user intent\r\nport it\r\n\r\n## summary\r\nshort\r\n",
    "Chinese": "### 用户意图\nport it\n\n### 摘要\nshort",
    "numbered, on one line": "1. **用户意图**：port it\n\n## 总结\nshort",
    "with colons": "User Intent:\nport it\nSummary:\nshort",
    "in brackets": "【用户意图】\nport it\n【摘要】\nshort",
}


@pytest.mark.parametrize("answer", DRESSES.values(), ids=DRESSES)
def test_an_anchor_is_found_under_a_heading_in_any_dress(answer: str) -> None:
    ports, _, _ = world(answer)

    result = compact(LONG, safe(12_000), ports)

    anchors = {a.kind: a.content for a in result.record.anchors or ()}
    assert anchors["user_intent"] == "port it"
    assert result.record.error == ""


def test_text_under_no_known_heading_is_kept_as_summary() -> None:
    ports, _, _ = world("Before.\n\n### User Intent\nport it\n\n### Risks\nnone left\n\nmore")

    result = compact(LONG, safe(12_000), ports)

    assert result.record.summary_text == "Before.\n\n### Risks\nnone left\n\nmore"


def test_an_anchor_is_not_erased_by_nothing_in_any_dress() -> None:
    ports, model, _ = world(GOOD)
    first = compact(LONG, safe(12_000), ports)
    model.answers = ["### 用户意图\n- 无\n\n**Next Steps**\n- None so far.\n\n## Summary\nmore"]
    grown = [*first.messages, *LONG[2:]]

    second = compact(grown, safe(12_000), ports, first.memory, tier=Tier.FULL)

    anchors = {a.kind: a.content for a in second.record.anchors or ()}
    assert (anchors["user_intent"], anchors["next_step"]) == ("port it", "run it")


def test_after_a_restart_the_anchors_in_the_conversation_still_hold() -> None:
    ports, model, _ = world(GOOD)
    first = compact(LONG, safe(12_000), ports)
    model.answers = ["### Key Decisions\nuse csv\n\n## Summary\nmore"]

    second = compact([*first.messages, *LONG[2:]], safe(12_000), ports, tier=Tier.FULL)

    anchors = {a.kind: a.content for a in second.record.anchors or ()}
    assert (anchors["user_intent"], anchors["key_decision"]) == ("port it", "use csv")


def test_a_file_that_a_summary_names_is_named_by_the_next_one_too() -> None:
    result_then = with_result("x" * 9000)
    ports, _, shelf = world(GOOD)
    first = compact(result_then, safe(1_000), ports, tier=Tier.FULL)

    second = compact([*first.messages, *LONG[2:]], safe(12_000), ports, first.memory)

    assert shelf.paths[0] in first.messages[2].content
    assert sum(shelf.paths[0] in text for text in contents(second)) == 1


def test_mending_is_what_the_safe_rule_book_does_first() -> None:
    messages = said(("assistant", "", "c1"), ("user", "?"), ("result", "c1", "42"))

    assert compact(messages, safe(10_000)).messages == mend(Draft.of(messages)).messages


def test_at_warn_what_would_save_next_to_nothing_stays_for_the_prompt_cache() -> None:
    steps = [("assistant", f"{n} @rep(w,1000)") for n in range(250)]
    messages = said(
        ("system", "S"),
        ("user", "go"),
        ("assistant", "", "c1"),
        ("result", "c1", "@rep(q,4100)"),
        *steps,
    )
    ports, _, shelf = world()

    result = compact(messages, safe(100_000), ports)

    assert (result.record.tier, result.messages, shelf.saved) == (Tier.NONE, tuple(messages), [])


def test_soft_takes_the_whole_head_where_half_of_it_would_not_be_enough_for_long() -> None:
    ports, _, _ = world(GOOD)
    messages = said(
        ("system", "S"), ("user", "go"), *[("assistant", f"{n} @rep(w,1000)") for n in range(29)]
    )
    long_known = Memory(summary="w" * 6_000)

    half = compact(messages, safe(10_000), ports)
    whole = compact(messages, safe(10_000), ports, long_known)

    assert half.tier is whole.tier is Tier.SOFT
    assert half.record.summarized == 11
    assert whole.record.summarized == 23
