"""What holds for every conversation of every provider: untouched stays, valid stays valid."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.llm.offline import OfflineSummariser
from compaction import (
    HARNESS9_WRITEBACK,
    STRATEGIES,
    Draft,
    MemoryOffloads,
    Message,
    Ports,
    Settings,
    Tier,
    compact,
)
from compaction.adapters import (
    Chat,
    Thinking,
    from_anthropic,
    from_openai,
    to_anthropic,
    to_openai,
)
from compaction.provenance import Fate, Slot
from tests.compaction.chats import anthropic_chats, openai_chats
from tests.fake_api import problem

Json = dict[str, Any]

TIERS = st.sampled_from([Tier.WARN, Tier.SOFT, Tier.FULL, Tier.EMERGENCY])


def _refused(messages: list[Json], system: Any = None) -> str | None:
    body = {"model": "m", "max_tokens": 1, "messages": messages}
    return problem(body if system is None else {**body, "system": system})


def _same(one: list[Any], other: list[Any]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def _compacted(chat: Chat, tier: Tier, tail: int) -> Draft:
    ladder = Settings(
        100_000, min_tail=tail, offload_bytes=100, offloader_bytes=100, rules=HARNESS9_WRITEBACK
    )
    ports = Ports(OfflineSummariser(), MemoryOffloads())
    return compact(chat.messages, ladder, ports, tier=tier).draft


@given(anthropic_chats())
def test_what_was_read_from_anthropic_is_written_as_the_same_objects(
    given_chat: tuple[list[Json], Any],
) -> None:
    messages, system = given_chat

    written = to_anthropic(from_anthropic(messages, system))

    assert _same(written.messages, messages)
    assert written.system is system
    assert (written.first_change, written.thinking_dropped) == (None, 0)


@given(openai_chats())
def test_what_was_read_from_openai_is_written_as_the_same_objects(messages: list[Json]) -> None:
    written = to_openai(from_openai(messages))

    assert _same(written.messages, messages)
    assert written.first_change is None


@given(anthropic_chats(), TIERS, st.integers(1, 6), st.sampled_from(Thinking))
def test_a_compacted_anthropic_chat_is_one_that_the_api_takes(
    given_chat: tuple[list[Json], Any], tier: Tier, tail: int, thinking: Thinking
) -> None:
    messages, system = given_chat
    assert _refused(messages, system) is None
    before = copy.deepcopy((messages, system))
    chat = from_anthropic(messages, system)

    written = to_anthropic(chat, _compacted(chat, tier, tail), thinking)

    if written.messages:
        assert _refused(written.messages, written.system) is None
    assert (messages, system) == before


@pytest.mark.parametrize("name", STRATEGIES)
@settings(max_examples=30)
@given(anthropic_chats(), st.sampled_from([20, 60, 200, 1000]), st.integers(1, 4))
def test_what_any_strategy_leaves_is_a_chat_that_the_api_takes(
    name: str, given_chat: tuple[list[Json], Any], window: int, tail: int
) -> None:
    messages, system = given_chat
    chat = from_anthropic(messages, system)
    small = Settings(window, min_tail=tail, offload_bytes=100, offloader_bytes=100)
    ports = Ports(OfflineSummariser(), MemoryOffloads())

    outcome = STRATEGIES[name].compact(chat.messages, small, ports)

    written = to_anthropic(chat, outcome.draft)
    if written.messages:
        assert _refused(written.messages, written.system) is None


@given(anthropic_chats(), TIERS, st.integers(1, 6))
def test_everything_before_the_first_change_is_the_same_object_and_no_thinking_comes_after(
    given_chat: tuple[list[Json], Any], tier: Tier, tail: int
) -> None:
    messages, system = given_chat
    chat = from_anthropic(messages, system)

    written = to_anthropic(chat, _compacted(chat, tier, tail))

    if written.first_change is not None:
        assert _same(written.messages[: written.first_change], messages[: written.first_change])
        later = [m["content"] for m in written.messages[written.first_change :]]
        blocks = [b["type"] for content in later if isinstance(content, list) for b in content]
        assert not {"thinking", "redacted_thinking"} & set(blocks)


@given(openai_chats(), TIERS, st.integers(1, 6))
def test_a_compacted_openai_chat_answers_every_call_once(
    messages: list[Json], tier: Tier, tail: int
) -> None:
    chat = from_openai(messages)

    written = to_openai(chat, _compacted(chat, tier, tail))

    waiting: list[str] = []
    for message in written.messages:
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
        else:
            assert waiting == []
            waiting = [call["id"] for call in message.get("tool_calls") or ()]
    assert waiting == []


@given(anthropic_chats(), st.data())
def test_reading_what_was_written_gives_the_engine_s_messages_again(
    given_chat: tuple[list[Json], Any], data: st.DataObject
) -> None:
    messages, system = given_chat
    chat = from_anthropic(messages, system)
    changed = data.draw(st.sets(st.integers(0, len(chat.messages) - 1)))
    slots = [
        Slot(_shortened(message), Fate.TRIMMED, (index,))
        if index in changed and not _has_more_than_text(chat, index)
        else Slot(message, Fate.KEPT, (index,))
        for index, message in enumerate(chat.messages)
    ]

    written = to_anthropic(chat, Draft(tuple(slots)), Thinking.KEEP)

    again = from_anthropic(written.messages, written.system)
    assert again.messages == tuple(slot.message for slot in slots)


def _shortened(message: Message) -> Message:
    return Message(message.role, "cut", message.tool_calls, message.tool_call_id)


def _has_more_than_text(chat: Chat, index: int) -> bool:
    return chat.parts[index].unseen > 0 or "[image" in chat.messages[index].content
