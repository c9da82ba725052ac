"""Large results moved to files: the two gates, what they leave behind, and what they refuse."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction import Draft, Fate, MemoryOffloads, Message
from compaction.offload import (
    HOOK_BYTES,
    HOOK_PREFIX,
    HOOK_PREVIEW_LINES,
    Gate,
    NotOffloaded,
    file_path,
    offload,
    offload_output,
    offload_result,
)
from compaction.placeholder import parse_placeholder
from compaction.utf8 import byte_length
from tests.compaction.generators import Shelf, said

GATE = Gate("s1", 100, 3)
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n/"), min_size=1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


def _result(content: str, call_id: str = "c1") -> Message:
    return Message("user", content, tool_call_id=call_id)


@given(NAMES, TEXTS, st.integers(1, 5))
def test_a_placeholder_can_be_taken_apart_again(call_id: str, text: str, lines: int) -> None:
    content = text + "x" * 101
    entry, left = offload_result(
        _result(content, call_id), replace(GATE, preview_lines=lines), MemoryOffloads(), frozenset()
    )

    found = parse_placeholder(left)

    assert found is not None
    assert (found.path, found.bytes, found.lines) == (entry.file_path, entry.bytes, entry.lines)
    assert entry.bytes == byte_length(content)
    assert found.preview == "\n".join(content.split("\n")[:lines])
    assert found.preview_lines == min(lines, entry.lines)


@pytest.mark.parametrize(
    ("session", "call", "path"),
    [
        ("s1", "c1", ".harness9/tool_results/s1/c1.txt"),
        ("", "c1", ".harness9/tool_results/c1.txt"),
        ("s1", "a/b", ".harness9/tool_results/s1/a/b.txt"),
        ("s1", "/abs", ".harness9/tool_results/s1/abs.txt"),
        ("/abs", "c1", ".harness9/tool_results/abs/c1.txt"),
        ("s1", "../../../etc/x", "etc/x.txt"),
        ("../../..", "c1", "../c1.txt"),
        ("漢", "..", ".harness9/tool_results/漢/...txt"),
    ],
)
def test_paths_are_joined_and_cleaned_as_go_joins_them(session: str, call: str, path: str) -> None:
    assert file_path(session, call) == path


REFUSED = {
    "empty ToolCallID": _result("x" * 200, ""),
    "content below threshold": _result("x" * 100),
    "already offloaded by OffloadHook": _result(HOOK_PREFIX + "x" * 200),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_a_refusal_gives_the_original_s_reason(reason: str) -> None:
    with pytest.raises(NotOffloaded, match=reason):
        offload_result(REFUSED[reason], GATE, MemoryOffloads(), frozenset())


def test_a_known_id_gets_a_placeholder_of_its_new_content_but_no_second_file() -> None:
    shelf = Shelf()

    entry, text = offload_result(_result("y" * 300), GATE, shelf, frozenset({"c1"}))

    assert shelf.saved == []
    assert entry.bytes == 300
    assert text.startswith("[offloaded: .harness9/tool_results/s1/c1.txt | 1 行 / 300 bytes]")


def test_two_results_of_one_id_share_a_file_within_one_pass_too() -> None:
    shelf = Shelf()
    draft = Draft.of([_result("a" * 200), _result("b" * 200)])

    moved = offload(draft, range(2), 100, GATE, shelf, frozenset())

    assert [slot.fate for slot in moved.draft.slots] == [Fate.OFFLOADED] * 2
    assert len(moved.entries) == 2
    assert [content for _, content in shelf.saved] == ["a" * 200]
    assert moved.written == {"c1"}


@pytest.mark.parametrize("call_id", ["", "a/b", "x\x00y"], ids=ascii)
def test_what_cannot_be_moved_stays_where_it_is(call_id: str) -> None:
    draft = Draft.of([_result("x" * 200, call_id)])

    moved = offload(draft, range(1), 100, GATE, Shelf(), frozenset())

    assert moved.draft is draft
    assert moved.entries == ()
    assert moved.written == frozenset()


def test_six_awkward_ids_lose_nothing() -> None:
    ids = ["", "../../outside", "a/b", "a_b", "CON", "x\x00y", "n" * 300]
    messages = [_result(f"{index} " * 100, call_id) for index, call_id in enumerate(ids)]
    shelf = Shelf()

    moved = offload(Draft.of(messages), range(len(ids)), 100, GATE, shelf, frozenset())

    saved = {entry.tool_call_id: content for entry, content in shelf.saved}
    for message, slot in zip(messages, moved.draft.slots, strict=True):
        kept = slot.message == message
        assert kept or saved[message.tool_call_id] == message.content
    assert len(set(shelf.paths)) == len(shelf.paths)


HOOKED = {
    "small": ("bash", _result("x" * HOOK_BYTES)),
    "a file tool": ("read_file", _result("x" * HOOK_BYTES * 2)),
    "no id": ("bash", _result("x" * HOOK_BYTES * 2, "")),
    "a store that fails": ("bash", _result("x" * HOOK_BYTES * 2, "a/b")),
}


@pytest.mark.parametrize("case", HOOKED)
def test_the_hook_leaves_these_alone(case: str) -> None:
    tool, result = HOOKED[case]
    gate = Gate("s1", HOOK_BYTES, HOOK_PREVIEW_LINES)

    assert offload_output(tool, result, Shelf(), gate) is result


def test_the_hook_leaves_a_placeholder_that_the_other_gate_then_leaves_alone() -> None:
    gate, shelf = Gate("s1", HOOK_BYTES, HOOK_PREVIEW_LINES), MemoryOffloads()
    result = _result("a line\n" * 2000)

    left = offload_output("bash", result, shelf, gate)

    found = parse_placeholder(left.content)
    assert found is not None
    assert (found.lines, found.bytes, found.preview_lines) == (2001, 14_000, 20)
    assert shelf.files == {found.path: result.content}
    again = offload(Draft.of([left]), range(1), 10, replace(GATE, bytes=10), shelf, frozenset())
    assert again.entries == ()


def test_only_results_are_offloaded_whatever_their_size() -> None:
    draft = Draft.of(said(("user", "@rep(x,900)"), ("assistant", "@rep(x,900)", "c1")))

    assert offload(draft, range(2), 100, GATE, Shelf(), frozenset()).draft is draft
