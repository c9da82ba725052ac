"""Anchors: what is written is read back, and what a reader may trip over."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction import Anchor, Summary, parse_summary
from compaction.anchors import ABSENT, HEADINGS, SPACE, merge, render, says_nothing

LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=30)


def _plain(lines: list[str]) -> str:
    kept = [line for line in lines if not line.strip(SPACE).startswith(("### ", "## Summary"))]
    return "\n".join(kept).strip(SPACE)


CONTENTS = st.lists(LINES, max_size=4).map(_plain)
ANCHORS = st.lists(CONTENTS, min_size=5, max_size=5).map(
    lambda texts: tuple(Anchor(k, t or ABSENT) for k, t in zip(HEADINGS, texts, strict=True))
)


@given(ANCHORS, CONTENTS)
def test_what_is_rendered_reads_back(anchors: tuple[Anchor, ...], text: str) -> None:
    answer = f"## Anchors\n\n{render(anchors)}\n\n## Summary\n{text}"

    assert parse_summary(answer) == Summary(anchors, text)


@given(st.text())
def test_any_answer_gives_five_anchors_in_the_fixed_order(answer: str) -> None:
    summary = parse_summary(answer)

    assert [anchor.kind for anchor in summary.anchors] == list(HEADINGS)
    assert all(anchor.content for anchor in summary.anchors)


@given(ANCHORS, ANCHORS)
def test_a_new_anchor_replaces_the_old_one_unless_it_is_absent(
    old: tuple[Anchor, ...], new: tuple[Anchor, ...]
) -> None:
    merged = merge(old, new)

    assert merged == tuple(o if n.is_absent else n for o, n in zip(old, new, strict=True))


def test_a_dash_before_n_a_erases_an_anchor_as_it_does_in_the_original() -> None:
    merged = merge([Anchor("user_intent", "port it")], [Anchor("user_intent", "- N/A")])

    assert merged[0] == Anchor("user_intent", "- N/A")


def test_an_unknown_heading_ends_a_section_and_takes_its_lines_with_it() -> None:
    summary = parse_summary("### User Intent\nport it\n### Mood\ngrim\n## Other\n\n## Summary\nx")

    assert summary.anchors[0].content == "port it"
    assert "grim" not in str(summary)


@pytest.mark.parametrize(
    "text",
    [
        *("- N/A", "**None**", "None so far.", "N/A (no decisions)", "N/A – none yet", "[N/A]"),
        *("No decisions made yet.", "nothing to report", "- N/A\n- none", "No new information"),
        *("无", "（无）", "*无*", "无。", "暂无（尚未开始）", "Keine", "なし", "特になし", "нет"),
    ],
)
def test_nothing_applies_is_known_in_any_dress_and_language(text: str) -> None:
    assert says_nothing(text)


@pytest.mark.parametrize(
    "text",
    [
        *("None of the tests pass", "nothing works on port 80", "No tests exist", "none.py fails"),
        *("no decision about X: ask Bob", "N/A\nport it", "Nothing but the header row stays"),
        *("无法连接数据库", "没有通过测试"),
    ],
)
def test_a_sentence_that_begins_like_a_denial_is_none(text: str) -> None:
    assert not says_nothing(text)
