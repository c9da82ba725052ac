"""Counting over the network: the service's figure, or an estimate that says why it is one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.llm.access import Access
from app.llm.claude_counter import REMEMBERED, ClaudeCounter
from compaction import Message, ToolCall, estimate
from compaction.counters import Count, FlaggedCounter
from tests.fake_api import Answer, Fail, FakeApi, Hang, Say

PATIENT = 60.0
"""Seconds: more than a busy machine needs."""

HISTORY = [
    Message("system", "You are an agent."),
    Message("user", "Port it"),
    Message("assistant", "", (ToolCall("c1", "bash", '{"command":"ls"}'),)),
    Message("user", "a.py", (), "c1"),
]


def test_the_count_is_the_service_s(api: FakeApi, access: Access) -> None:
    counter = ClaudeCounter(access, PATIENT)

    count = counter.measure(HISTORY)

    (body,) = api.requests
    assert count.is_exact
    assert counter.count(HISTORY) == count.tokens
    assert body["system"] == "You are an agent."
    assert [m["role"] for m in body["messages"]] == ["user", "assistant", "user"]
    assert isinstance(counter, FlaggedCounter)


def test_a_conversation_is_counted_once(api: FakeApi, access: Access) -> None:
    counter = ClaudeCounter(access, PATIENT)

    counter.measure(HISTORY)
    counter.measure(list(HISTORY))
    counter.measure(HISTORY[:2])

    assert len(api.requests) == 2


def test_few_conversations_are_remembered(api: FakeApi, access: Access) -> None:
    counter = ClaudeCounter(access, PATIENT)
    for number in range(REMEMBERED + 1):
        counter.measure([Message("user", f"{number}")])

    counter.measure([Message("user", "1")])
    counter.measure([Message("user", "0")])

    assert len(api.requests) == REMEMBERED + 2


@pytest.mark.parametrize(
    ("answer", "seconds", "why"),
    [
        (Fail(529, "Overloaded", "overloaded_error"), PATIENT, "Claude: Overloaded"),
        (Fail(500, "oops"), PATIENT, "Claude: oops"),
        (Hang(), 0.3, "no answer within 0.3 s"),
    ],
)
def test_without_an_answer_the_count_is_an_estimate_with_the_reason(
    api: FakeApi, access: Access, answer: Answer, seconds: float, why: str
) -> None:
    api.answers = [answer]

    count = ClaudeCounter(access, seconds).measure(HISTORY)

    assert (count.tokens, count.is_exact) == (estimate(HISTORY), False)
    assert why in count.why


def test_an_estimate_is_not_remembered(api: FakeApi, access: Access) -> None:
    api.answers = [Fail(500), Say()]
    counter = ClaudeCounter(access, PATIENT)

    first, second = counter.measure(HISTORY), counter.measure(HISTORY)

    assert (first.is_exact, second.is_exact) == (False, True)


def test_a_wrong_key_is_named_without_being_shown(api: FakeApi, access: Access) -> None:
    count = ClaudeCounter(replace(access, key="sk-ant-wrong"), PATIENT).measure(HISTORY)

    assert count.why == "Claude: invalid x-api-key: [key]"


@pytest.mark.parametrize(
    ("history", "why"),
    [
        ([Message("user", "x", (), "c9")], "unexpected `tool_use_id`"),
        ([], "at least one message"),
        ([Message("user", "lone \ud83d")], "cannot be sent"),
    ],
)
def test_what_the_service_does_not_take_is_estimated(
    access: Access, history: list[Message], why: str
) -> None:
    count = ClaudeCounter(access, PATIENT).measure(history)

    assert count == Count(estimate(history), is_exact=False, why=count.why)
    assert why in count.why
