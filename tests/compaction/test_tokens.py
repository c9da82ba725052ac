"""The byte-quarter estimate: bytes, not characters, and one division at the end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction import Message, Settings, Tier, ToolSchema, estimate, estimate_tools, tier_for
from compaction.tokens import ByteQuarter, message_bytes, prefix_bytes
from tests.compaction.generators import CONVERSATIONS


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


@given(CONVERSATIONS)
def test_the_estimate_is_all_bytes_divided_once(messages: list[Message]) -> None:
    parts = [
        part
        for m in messages
        for part in (m.content, m.tool_call_id, *(x for c in m.tool_calls for x in _parts(c)))
    ]
    # A raw byte counts as the one byte it stands for; a lone surrogate as the three of U+FFFD.
    raw = sum(2 for part in parts for char in part if "\udc80" <= char <= "\udcff")

    assert estimate(messages) == (sum(map(_bytes, parts)) - raw) // 4
    assert ByteQuarter().count(messages) == estimate(messages)


def _parts(call: object) -> tuple[str, str, str]:
    return call.id, call.name, call.arguments  # type: ignore[attr-defined]


@given(CONVERSATIONS, st.integers(0, 30), st.integers(0, 30))
def test_prefix_sums_give_the_size_of_any_stretch(
    messages: list[Message], start: int, length: int
) -> None:
    sums = prefix_bytes(messages)
    stretch = messages[start : start + length]

    stop = min(start + length, len(messages))
    size = sums[stop] - sums[min(start, stop)]

    assert size == sum(map(message_bytes, stretch))
    assert sums[-1] // 4 == estimate(messages)


@pytest.mark.parametrize(
    ("text", "count", "tokens"), [("x", 4000, 1000), ("漢", 1000, 750), ("😀", 1000, 1000)]
)
def test_bytes_count_and_characters_do_not(text: str, count: int, tokens: int) -> None:
    assert estimate([Message("user", text * count)]) == tokens


def test_the_role_is_free() -> None:
    assert estimate([Message("assistant", "")]) == 0


@pytest.mark.parametrize(
    ("size", "tier"),
    [
        (2396, Tier.NONE),
        (2400, Tier.WARN),
        (2800, Tier.SOFT),
        (3200, Tier.FULL),
        (3796, Tier.FULL),
        (3800, Tier.EMERGENCY),
    ],
)
def test_thresholds_are_inclusive(size: int, tier: Tier) -> None:
    assert tier_for(estimate([Message("user", "x" * size)]), Settings(1000)) is tier


@pytest.mark.parametrize("window", [0, -1])
def test_no_window_means_no_tier(window: int) -> None:
    assert tier_for(10**9, Settings(window)) is Tier.NONE


def test_a_tool_without_a_schema_counts_by_its_words() -> None:
    assert estimate_tools([ToolSchema("bash", "runs it"), ToolSchema("ls", "漢")]) == 4


def test_a_schema_counts_in_go_s_spelling() -> None:
    tools = [ToolSchema("", "", {"b": "<", "a": 1.0})]

    assert estimate_tools(tools) == len('{"a":1,"b":"\\u003c"}') // 4
