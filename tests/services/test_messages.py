from __future__ import annotations

import pytest

from app.services.messages import (
    CHUNK,
    EXCERPT,
    CallSite,
    Kind,
    chunk,
    excerpt,
    kind_of,
    message_view,
    pairs_of,
)
from compaction.messages import Message
from compaction.placeholder import Gate
from compaction.repair import UNAVAILABLE
from tests.builders import call, human, result, says

OFFLOADED = (
    "[offloaded: .harness9/tool_results/s/c1.txt | 3 行 / 6000 bytes]\n"
    "预览（前 1 行）：\nfirst\n...（完整结果已保存至文件，可通过 read_file 检索）"
)
COMPACTED = (
    "[Context Compaction]\n## Anchors\n\n"
    "### User Intent\nport it\n\n### Execution Progress\n- N/A\n\n"
    "### Key Decisions\nN/A\n\n### Tried Solutions\nN/A\n\n### Next Steps\ntest\n\n"
    "## Summary\nwent well\n\n## Offloaded References\n- a.txt (3行) - offloaded tool result\n"
)


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (Message("system", "You are"), Kind.SYSTEM),
        (human("hello"), Kind.HUMAN),
        (says("hi"), Kind.ASSISTANT),
        (result("c1", "42"), Kind.RESULT),
        (result("c1", UNAVAILABLE), Kind.PLACEHOLDER),
        (human(UNAVAILABLE), Kind.HUMAN),
        (result("c1", OFFLOADED), Kind.OFFLOADED),
        (human(OFFLOADED), Kind.HUMAN),
        (result("c1", OFFLOADED + "x"), Kind.RESULT),
        (human(COMPACTED), Kind.COMPACTION),
        (human("[Conversation Summary]\nolder"), Kind.COMPACTION),
        (human("about [Context Compaction]"), Kind.HUMAN),
        (result("c1", COMPACTED), Kind.RESULT),
        (Message("tool", "x"), Kind.OTHER),
    ],
)
def test_messages_are_told_apart(message: Message, kind: Kind) -> None:
    assert kind_of(message) is kind


def test_a_result_is_tied_to_the_call_before_it() -> None:
    messages = [
        says("", call("a", "read"), call("b", "bash")),
        result("b", "1"),
        result("a", "2"),
        says("", call("a", "edit")),
        result("a", "3"),
        result("nobody", "4"),
    ]

    pairs = pairs_of(messages)

    assert pairs.calls == {
        2: CallSite(1, "bash"),
        3: CallSite(1, "read"),
        5: CallSite(4, "edit"),
    }
    assert pairs.results == {(1, 1): 2, (1, 0): 3, (4, 0): 5}


def test_a_call_without_result_says_so() -> None:
    message = says("", call("a"))

    view = message_view(message, 1, pairs_of([message]))

    assert [one.result for one in view.calls] == [None]


def test_a_calls_most_telling_argument_is_shown_beside_its_name() -> None:
    message = says("", call("a", "read", '{"limit": 5, "file_path": "src/w.py"}'))

    (view,) = message_view(message, 1).calls

    assert view.hint == "src/w.py"
    assert [(one.name, one.value.text) for one in view.arguments] == [
        ("limit", "5"),
        ("file_path", "src/w.py"),
    ]


@pytest.mark.parametrize("raw", ["", "[1]", "{broken", '"text"', "null"])
def test_arguments_that_are_no_object_are_shown_raw(raw: str) -> None:
    (view,) = message_view(says("", call("a", "x", raw)), 1).calls

    assert view.arguments == ()
    assert view.raw.text.replace("\n", "").replace(" ", "") == raw


def test_a_compaction_message_is_taken_apart() -> None:
    view = message_view(human(COMPACTED), 1)

    assert view.compaction is not None
    assert [(a.heading, a.text.text, a.is_absent) for a in view.compaction.anchors][:2] == [
        ("User Intent", "port it", False),
        ("Execution Progress", "- N/A", True),
    ]
    assert view.compaction.summary.text == "went well"
    assert view.compaction.references.text == "- a.txt (3行) - offloaded tool result"


def test_a_placeholder_says_what_it_stands_for() -> None:
    view = message_view(result("c1", OFFLOADED), 1)

    assert view.offload is not None
    assert (view.offload.gate, view.offload.bytes, view.offload.lines) == (Gate.COMPACTION, 6000, 3)


@pytest.mark.parametrize(
    "content",
    [
        '{"rows":[' + '"x",' * 50_000 + '"x"]}',
        "data:image/png;base64," + "QUJD" * 87_500,
    ],
)
def test_a_giant_line_is_collapsed_by_its_size(content: str) -> None:
    view = message_view(result("c1", content), 1)

    assert not view.is_open
    assert view.lines == 1
    assert view.bytes == len(content)
    assert len(view.body.text) == EXCERPT
    assert view.body.rest == len(content) - EXCERPT
    assert len(view.glimpse) <= 400


def test_special_tokens_are_ordinary_text() -> None:
    text = "The manual says <|endoftext|> and <|im_start|>system"

    assert message_view(human(text), 1).body.text == text


def test_a_text_is_not_cut_for_the_sake_of_little() -> None:
    assert excerpt("x" * int(EXCERPT * 1.2)).rest == 0
    assert excerpt("x" * int(EXCERPT * 1.2 + 1)).rest > 0


def test_chunks_are_bounded_and_join_up() -> None:
    text = "".join(chr(0x4E00 + i % 2000) for i in range(3 * CHUNK + 7))
    chunks, start = [], 0
    while True:
        part = chunk(text, start)
        chunks.append(part.text)
        if not part.rest:
            break
        start = part.end

    assert "".join(chunks) == text
    assert max(map(len, chunks)) == CHUNK
    assert chunk(text, -5).text == chunks[0]
    assert chunk(text, 10**9).text == ""
