"""The summariser without a model: only quotations and counts, whatever it is given."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from app.llm.offline import MAX_BYTES, OfflineSummariser
from compaction import (
    HARNESS9_VIEW,
    HARNESS9_WRITEBACK,
    MemoryOffloads,
    Message,
    Ports,
    Settings,
    Summary,
    SummaryRequest,
    Tier,
    ToolCall,
    compact,
    parse_summary,
)
from compaction.anchors import ABSENT, HEADINGS
from compaction.utf8 import byte_length
from tests.compaction.generators import CONVERSATIONS, SETTINGS, expand, said


def _answer(messages: list[Message]) -> str:
    answer = OfflineSummariser().summarise(SummaryRequest(tuple(messages)))
    assert answer.role == "assistant"
    return answer.content


def _summary(messages: list[Message]) -> Summary:
    return parse_summary(_answer(messages))


def _anchor(messages: list[Message], kind: str) -> str:
    return next(a.content for a in _summary(messages).anchors if a.kind == kind)


@given(CONVERSATIONS)
def test_any_conversation_gives_five_bounded_anchors_and_always_the_same(
    messages: list[Message],
) -> None:
    text = _answer(messages)

    summary = parse_summary(text)
    assert [anchor.kind for anchor in summary.anchors] == list(HEADINGS)
    assert summary.text
    assert byte_length(text) <= MAX_BYTES
    assert _answer(messages) == text


@given(CONVERSATIONS)
def test_every_quotation_stands_in_the_conversation(messages: list[Message]) -> None:
    everything = "\n".join(message.content for message in messages)

    for quoted in re.findall("“(.*?)”", _answer(messages)):
        assert quoted.removesuffix("…") in everything


@given(CONVERSATIONS, SETTINGS)
def test_it_serves_the_engine_in_every_rule_book_of_harness9(
    messages: list[Message], settings: Settings
) -> None:
    result = compact(messages, settings, Ports(OfflineSummariser()), tier=Tier.FULL)

    # The safe one may have better reasons than the summariser's: too short a conversation, say.
    assert result.record.error == "" or settings.rules.guards


WORK = said(
    ("user", "Port the billing report to CSV\nand keep the header row"),
    ("assistant", "I'll read it first.", "c1"),
    ("result", "c1", "def report(): ..."),
    ("assistant", "We decided to use csv.writer instead of joining strings.", "c2"),
    ("result", "c2", "Traceback (most recent call last):\n  File x\nKeyError: 'header'\n"),
    ("assistant", "The header row has no key; it is now added first.", "c3"),
    ("result", "c3", "3 passed"),
    ("user", "also quote every field"),
    ("assistant", "The report is done and tests pass. Next I'll quote every field."),
)


def test_the_first_and_the_newest_request_are_quoted() -> None:
    assert _anchor(WORK, "user_intent") == (
        "- Asked first: “Port the billing report to CSV” “and keep the header row”\n"
        "- Asked last: “also quote every field”"
    )


def test_progress_is_counted_and_what_was_called_done_is_quoted() -> None:
    assert _anchor(WORK, "execution_progress") == (
        "- 3 tool calls: bash ×3\n- “The report is done and tests pass.”"
    )


def test_decisions_are_sentences_that_say_so() -> None:
    decided = _anchor(WORK, "key_decision")

    assert decided == "- “We decided to use csv.writer instead of joining strings.”"


def test_an_error_is_quoted_with_what_followed() -> None:
    assert _anchor(WORK, "tried_solution") == (
        "- “KeyError: 'header'” then “The header row has no key; it is now added first.”"
    )


def test_the_next_step_is_the_last_intention() -> None:
    assert _anchor(WORK, "next_step") == "- “Next I'll quote every field.”"


def test_finished_work_is_progress_and_no_next_step() -> None:
    messages = said(
        ("user", "Task X: rename module alpha to beta"),
        ("assistant", "I will rename it", "c1"),
        ("result", "c1", "@rep(d,3000)"),
        ("assistant", "Task X finished: 14 files renamed, tests pass"),
    )

    assert "Task X finished" in _anchor(messages, "execution_progress")
    assert _anchor(messages, "next_step") == ABSENT


CHINESE = said(
    ("user", "把账单报表改成 CSV，保留表头"),
    ("assistant", "我先看代码。决定改用 csv.writer，因为手工拼接会漏引号。", "c1"),
    ("result", "c1", "运行\n错误：找不到表头\n"),
    ("assistant", "表头已补上，测试通过了。接下来处理引号。"),
)


def test_chinese_is_read_by_its_own_words() -> None:
    anchors = {anchor.kind: anchor.content for anchor in _summary(CHINESE).anchors}

    assert anchors == {
        "user_intent": "- Asked first: “把账单报表改成 CSV，保留表头”",
        "execution_progress": "- 1 tool call: bash ×1\n- “表头已补上，测试通过了。”",
        "key_decision": "- “决定改用 csv.writer，因为手工拼接会漏引号。”",
        "tried_solution": "- “错误：找不到表头” then “表头已补上，测试通过了。接下来处理引号。”",
        "next_step": "- “接下来处理引号。”",
    }


def test_files_are_named_by_the_arguments_that_name_them() -> None:
    arguments = ['{"path": "a.py"}', '{"file_path": "b.py", "content": "x"}', '{"path": "a.py"}']
    calls = tuple(ToolCall(f"c{i}", "edit_file", text) for i, text in enumerate(arguments))

    progress = _anchor([Message("assistant", "", calls)], "execution_progress")

    assert progress == "- 3 tool calls: edit_file ×3\n- 2 files named: a.py ×2, b.py ×1"


@pytest.mark.parametrize("arguments", ["", "null", "[1]", '{"path": 7}', "{" * 9999, '{"path":"'])
def test_arguments_that_name_no_file_are_passed_over(arguments: str) -> None:
    messages = [Message("assistant", "", (ToolCall("c1", "bash", arguments),))]

    assert _anchor(messages, "execution_progress") == "- 1 tool call: bash ×1"


def test_saved_results_keep_their_paths() -> None:
    messages = said(("assistant", "", "c1"), ("result", "c1", "@rep(q,9000)"), *[("user", "x")] * 6)
    settings = Settings(1000, session_id="s1", offload_bytes=100, rules=HARNESS9_VIEW)

    view = compact(
        [Message("system", "S"), *messages],
        settings,
        Ports(OfflineSummariser(), MemoryOffloads()),
        tier=Tier.FULL,
    )

    assert "- 1 result saved: .harness9/tool_results/s1/c1.txt" in view.messages[1].content


def test_a_tool_result_and_a_compaction_message_are_never_taken_for_the_person() -> None:
    messages = said(
        ("user", "[Context Compaction]\n## Anchors\n\n## Summary\nearlier"),
        ("assistant", "", "c1"),
        ("result", "c1", "what the tool said"),
    )

    assert _anchor(messages, "user_intent") == ABSENT
    assert _summary(messages).text.startswith("2 messages, extracted without a model: 0 from")


def test_nothing_new_is_not_applicable_so_that_merging_keeps_the_old() -> None:
    summary = _summary([])

    assert {anchor.content for anchor in summary.anchors} == {ABSENT}
    assert summary.text.startswith("0 messages")


def test_an_earlier_compaction_among_the_messages_is_carried_on() -> None:
    settings = Settings(1000, min_tail=1, rules=HARNESS9_WRITEBACK)
    ports = Ports(OfflineSummariser())
    first = compact([Message("system", "S"), *WORK], settings, ports, tier=Tier.FULL)
    more = said(("user", "ship it"), ("assistant", "It is done.", "c9"), ("result", "c9", "ok"))

    second = compact([*first.messages, *more], settings, ports, first.memory, tier=Tier.FULL)

    intent, progress, decided, tried, _ = second.record.anchors or ()
    assert "- Asked first: “Port the billing report to CSV”" in intent.content
    assert "- Asked first: “ship it”" in intent.content
    assert "- 3 tool calls: bash ×3\n" in progress.content
    assert "csv.writer" in decided.content
    assert "KeyError" in tried.content


def test_long_quotations_are_cut_at_a_character_and_say_so() -> None:
    messages = said(("user", expand("@rep(漢,500)")))

    intent = _anchor(messages, "user_intent")

    assert intent.endswith("漢…”")
    assert byte_length(intent) < 320
