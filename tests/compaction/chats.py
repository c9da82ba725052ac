"""Conversations in providers' formats for property tests: what the APIs take, of every kind."""

from __future__ import annotations

import base64
import struct
from itertools import count
from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]


def png(width: int, height: int, more: int = 0) -> str:
    """The base64 of a PNG as far as its header, and `more` bytes."""
    header = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", width, height)
    return base64.b64encode(header + b"\x08\x02" + bytes(more)).decode()


SAID = st.text(min_size=1, max_size=30).filter(lambda text: text.strip() == text and text)
CACHED = st.sampled_from([{}, {}, {"cache_control": {"type": "ephemeral"}}])
TEXT = st.builds(lambda text, cached: {"type": "text", "text": text, **cached}, SAID, CACHED)
IMAGE = st.builds(
    lambda width, height: {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": png(width, height, 300)},
    },
    st.integers(1, 3000),
    st.integers(1, 3000),
)
DOCUMENT = st.just(
    {
        "type": "document",
        "title": "notes",
        "source": {"type": "text", "media_type": "text/plain", "data": "the notes"},
    }
)
THOUGHT = st.sampled_from(
    [
        {"type": "thinking", "thinking": "let me see", "signature": "c2lnbmVk"},
        {"type": "redacted_thinking", "data": "ZW5jcnlwdGVk"},
    ]
)
INPUT = st.dictionaries(
    st.sampled_from(["path", "command", "内容"]),
    st.one_of(st.text(max_size=20), st.integers(), st.none(), st.lists(st.booleans(), max_size=2)),
    max_size=2,
)
RESULT_CONTENT = st.one_of(
    st.text(max_size=40),
    st.builds(lambda unit, times: unit * times, st.sampled_from(["line\n", "表"]), st.just(60)),
    st.lists(st.one_of(TEXT, IMAGE), max_size=3),
)
USER = st.one_of(SAID, st.lists(st.one_of(TEXT, IMAGE, DOCUMENT), min_size=1, max_size=3))


@st.composite
def anthropic_chats(draw: st.DrawFn) -> tuple[list[Json], str | list[Json] | None]:
    """Messages and a system prompt as the Messages API takes them."""
    numbers = count(1)
    messages: list[Json] = []
    for _ in range(draw(st.integers(1, 4))):
        messages.append({"role": "user", "content": draw(USER)})
        for _ in range(draw(st.integers(0, 2))):
            messages += _batch(draw, numbers)
        if draw(st.booleans()):
            thoughts = draw(st.lists(THOUGHT, max_size=1))
            said = draw(st.lists(TEXT, min_size=1, max_size=2))
            messages.append({"role": "assistant", "content": [*thoughts, *said]})
        else:
            messages.append({"role": "assistant", "content": draw(SAID)})
    return messages, draw(st.one_of(st.none(), SAID, st.lists(TEXT, min_size=1, max_size=2)))


def _batch(draw: st.DrawFn, numbers: count[int]) -> list[Json]:
    ids = [f"toolu_{next(numbers)}" for _ in range(draw(st.integers(1, 3)))]
    calls = [{"type": "tool_use", "id": call, "name": "bash", "input": draw(INPUT)} for call in ids]
    before = [*draw(st.lists(THOUGHT, max_size=1)), *draw(st.lists(TEXT, max_size=1))]
    results = [draw(_result(call)) for call in ids]
    after = draw(st.lists(TEXT, max_size=1))
    return [
        {"role": "assistant", "content": [*before, *calls]},
        {"role": "user", "content": [*results, *after]},
    ]


def _result(call: str) -> st.SearchStrategy[Json]:
    return st.builds(
        lambda content, error, cached: {
            "type": "tool_result",
            "tool_use_id": call,
            **content,
            **error,
            **cached,
        },
        st.one_of(st.just({}), st.builds(lambda c: {"content": c}, RESULT_CONTENT)),
        st.sampled_from([{}, {"is_error": True}, {"is_error": False}]),
        CACHED,
    )


PARTS = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, SAID),
    st.builds(
        lambda width, detail: {
            "type": "image_url",
            "image_url": {"url": f"data:image/png;base64,{png(width, 200, 90)}", "detail": detail},
        },
        st.integers(1, 2000),
        st.sampled_from(["low", "high", "auto"]),
    ),
    st.just({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}),
)
CONTENT = st.one_of(SAID, st.lists(PARTS, min_size=1, max_size=3))


@st.composite
def openai_chats(draw: st.DrawFn) -> list[Json]:
    """Messages as the chat completions API takes them."""
    numbers = count(1)
    messages: list[Json] = []
    if draw(st.booleans()):
        role = draw(st.sampled_from(["system", "developer"]))
        messages.append({"role": role, "content": draw(SAID)})
    for _ in range(draw(st.integers(1, 4))):
        name = draw(st.sampled_from([{}, {"name": "ada"}]))
        messages.append({"role": "user", "content": draw(CONTENT), **name})
        for _ in range(draw(st.integers(0, 2))):
            messages += _openai_batch(draw, numbers)
        messages.append(draw(st.sampled_from(ENDINGS)))
    return messages


ENDINGS: list[Json] = [
    {"role": "assistant", "content": "done"},
    {"role": "assistant", "content": None, "refusal": "I cannot do that."},
    {"role": "assistant", "content": [{"type": "text", "text": "done"}], "refusal": None},
    {"role": "assistant", "content": "heard", "audio": {"id": "audio_1"}},
]


def _openai_batch(draw: st.DrawFn, numbers: count[int]) -> list[Json]:
    ids = [f"call_{next(numbers)}" for _ in range(draw(st.integers(1, 3)))]
    calls = [draw(_openai_call(call)) for call in ids]
    content = draw(st.sampled_from([None, "", "let me look"]))
    body = st.one_of(
        st.text(max_size=30), st.just("line\n" * 60), st.just([{"type": "text", "text": "ok"}])
    )
    results = [{"role": "tool", "tool_call_id": call, "content": draw(body)} for call in ids]
    return [{"role": "assistant", "content": content, "tool_calls": calls}, *results]


def _openai_call(call: str) -> st.SearchStrategy[Json]:
    raw = st.one_of(st.just('{"path": "a.py"}'), st.text(max_size=20))
    function = st.builds(
        lambda arguments: {
            "id": call,
            "type": "function",
            "function": {"name": "bash", "arguments": arguments},
        },
        raw,
    )
    custom = st.builds(
        lambda text: {"id": call, "type": "custom", "custom": {"name": "sql", "input": text}}, raw
    )
    return st.one_of(function, custom)
