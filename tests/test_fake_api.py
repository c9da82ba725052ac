"""The fake Messages API refuses what the real one refuses, in the same words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fake_api import problem

Json = dict[str, Any]


def calls(*ids: str) -> Json:
    blocks = [{"type": "tool_use", "id": each, "name": "bash", "input": {}} for each in ids]
    return {"role": "assistant", "content": blocks}


def results(*ids: str, text: str = "") -> Json:
    blocks: list[Json] = [{"type": "tool_result", "tool_use_id": each} for each in ids]
    said = [{"type": "text", "text": text}] if text else []
    return {"role": "user", "content": [*blocks, *said]}


def user(content: Any = "go") -> Json:
    return {"role": "user", "content": content}


def text(said: str) -> Json:
    return {"type": "text", "text": said}


TAKEN: list[list[Json]] = [
    [user()],
    [user(), user("and more")],
    [
        user(),
        calls("a", "b"),
        results("a", "b", text="hurry"),
        {"role": "assistant", "content": []},
    ],
    [user(), calls("a"), results("a"), calls("a"), results("a")],
    [user([text("hi"), text(" ")])],
    [user(), {"role": "assistant", "content": [text("\n"), *calls("a")["content"]]}, results("a")],
]


@pytest.mark.parametrize("messages", TAKEN)
def test_what_the_api_takes_is_taken(messages: list[Json]) -> None:
    assert problem({"model": "m", "max_tokens": 1, "messages": messages}) is None


REFUSED: list[tuple[list[Json], str]] = [
    ([], "at least one message is required"),
    ([user("")], "user messages must have non-empty content"),
    ([user([])], "user messages must have non-empty content"),
    ([user(" \n")], "must contain non-whitespace text"),
    ([user([text("")])], "text content blocks must be non-empty"),
    ([user([text("hi"), text("")])], "text content blocks must be non-empty"),
    ([{"role": "tool", "content": "x"}], "role"),
    ([{**user(), "tool_call_id": "x"}], "Extra inputs are not permitted"),
    ([user(None)], "Field required"),
    ([user([{"type": "tool_use"}])], "does not match"),
    ([user(), calls("a")], "`tool_use` ids were found without `tool_result`"),
    ([user(), calls("a", "b"), results("a")], "immediately after: b"),
    ([user(), calls("a"), user(), results("a")], "`tool_use` ids were found without"),
    ([user(), calls("a", "b"), results("a"), results("b")], "immediately after: b"),
    ([user(), results("a")], "unexpected `tool_use_id`"),
    ([user(), calls("a"), results("a", "a")], "must have a single result"),
    ([user(), calls("a", "a"), results("a")], "must be unique"),
    (
        [user(), calls("a"), user([text("x"), *results("a")["content"]])],
        "`tool_use` ids were found without",
    ),
    ([user(), {"role": "assistant", "content": "done "}], "cannot end with trailing whitespace"),
    (
        [user(), {"role": "assistant", "content": [{"type": "thinking", "thinking": "x"}]}],
        "signature: Field required",
    ),
]


@pytest.mark.parametrize(("messages", "says"), REFUSED)
def test_what_the_api_refuses_is_refused(messages: list[Json], says: str) -> None:
    assert says in (problem({"model": "m", "max_tokens": 1, "messages": messages}) or "")


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ([], "valid dictionary"),
        ({"max_tokens": 1, "messages": [user()]}, "model: Field required"),
        ({"model": "m", "messages": [user()]}, "max_tokens: Field required"),
        ({"model": "m", "max_tokens": 1}, "at least one message"),
        ({"model": "m", "max_tokens": 1, "messages": [user()], "system": "  "}, "system: text"),
        ({"model": "m", "max_tokens": 1, "messages": [user()], "system": [text("")]}, "system"),
    ],
)
def test_a_request_that_is_incomplete_is_refused(body: Any, says: str) -> None:
    assert says in (problem(body) or "")
