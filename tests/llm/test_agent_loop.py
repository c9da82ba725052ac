"""The loop of the documentation with the real client: the API takes every request that it sends."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest

from app.llm.offline import OfflineSummariser
from compaction import (
    HARNESS9_WRITEBACK,
    Memory,
    MemoryOffloads,
    Ports,
    Settings,
    compact,
    takes_effect,
)
from compaction.adapters import Thinking, from_anthropic, to_anthropic
from tests.fake_api import FakeApi, Say

SYSTEM = "You are a coding agent."
TURNS = 16


def converse(api: FakeApi, settings: Settings, thinking: Thinking) -> int:
    """Run an agent for some turns; how often its history was compacted."""
    messages: list[Any] = [{"role": "user", "content": "Port every report to CSV"}]
    memory, compactions = Memory(), 0
    ports = Ports(OfflineSummariser(), MemoryOffloads())
    with anthropic.Anthropic(api_key=api.key, base_url=api.url, max_retries=0) as client:
        for turn in range(TURNS):
            chat = from_anthropic(messages, SYSTEM)
            result = compact(chat.messages, settings, ports, memory)
            memory = result.memory
            if takes_effect(result, settings.rules):
                messages = to_anthropic(chat, result.draft, thinking).messages
                compactions += 1
            response = client.messages.create(
                model="m", max_tokens=100, system=SYSTEM, messages=messages
            )
            content = response.to_dict()["content"]
            messages.append({"role": "assistant", "content": content})
            messages.append({"role": "user", "content": list(results(content, turn))})
    return compactions


def results(content: Any, turn: int) -> list[dict[str, Any]]:
    """A long result, now and then a failed one."""
    text = "no such file" if turn % 7 == 6 else f"line {turn}\n" * 300
    return [
        {
            "type": "tool_result",
            "tool_use_id": block["id"],
            "content": text,
            "is_error": turn % 7 == 6,
        }
        for block in content
        if block["type"] == "tool_use"
    ]


@pytest.mark.parametrize("window", [2_000, 6_000])
@pytest.mark.parametrize("binds", [False, True])
def test_an_agent_that_compacts_is_never_refused(api: FakeApi, window: int, binds: bool) -> None:
    api.binds_thinking = binds
    api.answers = [Say("I decided to go on.", tool="read_file", thinks=True)]
    settings = Settings(window, rules=HARNESS9_WRITEBACK, session_id="s1")

    compactions = converse(api, settings, Thinking.UNTIL_CHANGE)

    assert compactions > 0
    assert len(api.requests) == TURNS


def test_a_model_that_binds_thinking_refuses_blocks_kept_past_a_change(api: FakeApi) -> None:
    api.binds_thinking = True
    api.answers = [Say("I decided to go on.", tool="read_file", thinks=True)]
    settings = Settings(4_000, rules=HARNESS9_WRITEBACK, session_id="s1")

    with pytest.raises(anthropic.BadRequestError, match="bound to a different conversation"):
        converse(api, settings, Thinking.KEEP)
