"""What a summariser is asked, and the message that its answer becomes."""

from __future__ import annotations

from compaction import Anchor, Message, OffloadEntry, SummaryRequest, ToolCall, parse_summary
from compaction.anchors import HEADINGS
from compaction.summary import as_text, compaction_message, previous_text
from tests.compaction.generators import said

TALK = (
    *said(("user", "port it"), ("assistant", "", "c1"), ("result", "c1", "two\nlines")),
    Message("assistant", "both", (ToolCall("c2", "bash", '{"a":1}'), ToolCall("c3", "ls", ""))),
)

TEXT = """\
[user]: port it
[tool_call bash(c1)]: {}
[tool_result c1]: two
lines
[assistant]: both
[tool_call bash(c2)]: {"a":1}
[tool_call ls(c3)]: """

ANCHORS = tuple(Anchor(kind, kind.upper()) for kind in HEADINGS)


def test_a_conversation_is_one_line_per_text_call_and_result() -> None:
    assert as_text(TALK) == TEXT


def test_a_first_request_holds_the_conversation_and_the_shape_of_the_answer() -> None:
    request = SummaryRequest(TALK)

    assert not request.is_incremental
    assert TEXT in request.user_prompt
    assert "<previous>" not in request.user_prompt
    positions = [request.system_prompt.index(f"### {heading}") for heading in HEADINGS.values()]
    assert positions == sorted(positions)
    assert request.system_prompt.index("## Summary") > positions[-1]


def test_an_incremental_request_holds_the_earlier_compaction_too() -> None:
    request = SummaryRequest(TALK, "what was {before}")

    assert request.is_incremental
    assert "what was {before}" in request.user_prompt
    assert TEXT in request.user_prompt


def test_the_earlier_compaction_is_told_with_its_anchors_where_it_has_any() -> None:
    told = previous_text("so far", ANCHORS)

    assert parse_summary(told).anchors == ANCHORS
    assert told.endswith("\n\n## Summary\nso far")
    assert previous_text("so far", ()) == "so far"
    assert previous_text("", ANCHORS) == ""


def test_the_compaction_message_has_its_fixed_form() -> None:
    entry = OffloadEntry("c1", "", ".harness9/tool_results/s1/c1.txt", 9000, 12)

    message = compaction_message(ANCHORS[:1], "short", [entry])

    assert message == Message(
        "user",
        "[Context Compaction]\n## Anchors\n\n### User Intent\nUSER_INTENT\n\n## Summary\nshort\n\n"
        "## Offloaded References\n"
        "- .harness9/tool_results/s1/c1.txt (12行) - offloaded tool result\n",
    )
