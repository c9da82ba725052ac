"""Providers' formats, case by case: what the engine sees, what stays, and what is refused."""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest

from compaction import Draft, Message, ToolCall, estimate
from compaction.adapters import (
    Chat,
    Thinking,
    as_anthropic,
    as_openai,
    from_anthropic,
    from_openai,
    to_anthropic,
    to_openai,
)
from compaction.adapters.media import image_size, image_tokens
from compaction.counters import BpeCounter, ByteQuarter, measured
from compaction.provenance import Drop, Fate, Slot
from tests.compaction.chats import png
from tests.fake_api import problem

Json = dict[str, Any]

CALL = {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"path": "文.py"}}
THOUGHT = {"type": "thinking", "thinking": "let me see", "signature": "c2ln"}
SECRET = {"type": "redacted_thinking", "data": "ZW5j"}
CACHE = {"cache_control": {"type": "ephemeral"}}


def agent() -> list[Json]:
    """A turn with two calls, one of which failed with a picture."""
    shot = {"type": "base64", "media_type": "image/png", "data": png(1024, 768, 5000)}
    failed = [{"type": "text", "text": "no such file"}, {"type": "image", "source": shot}]
    return [
        {"role": "user", "content": "Port the report"},
        {
            "role": "assistant",
            "content": [
                THOUGHT,
                {"type": "text", "text": "I'll read both."},
                CALL,
                {**CALL, "id": "toolu_2", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "x = 1", **CACHE},
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_2",
                    "is_error": True,
                    "content": failed,
                },
                {"type": "text", "text": "and hurry"},
            ],
        },
        {"role": "assistant", "content": [SECRET, {"type": "text", "text": "Done."}]},
    ]


def draft(chat: Chat, changes: dict[int, Message | None]) -> Draft:
    """The chat with some messages trimmed (a message) or dropped (None)."""
    slots, drops = [], []
    for index, message in enumerate(chat.messages):
        now = changes.get(index, message)
        if now is None:
            drops.append(Drop(index, "test"))
        else:
            fate = Fate.KEPT if now is message else Fate.TRIMMED
            slots.append(Slot(now, fate, (index,)))
    return Draft(tuple(slots), tuple(drops))


def test_each_tool_result_is_a_message_and_the_rest_of_the_turn_another() -> None:
    chat = from_anthropic(agent(), system="You are an agent.")

    assert chat.messages == (
        Message("system", "You are an agent."),
        Message("user", "Port the report"),
        Message(
            "assistant",
            "I'll read both.",
            (
                ToolCall("toolu_1", "read_file", '{"path":"文.py"}'),
                ToolCall("toolu_2", "read_file", "{}"),
            ),
        ),
        Message("user", "x = 1", (), "toolu_1"),
        Message("user", "no such file\n[image image/png 1024×768]", (), "toolu_2"),
        Message("user", "and hurry"),
        Message("assistant", "Done."),
    )


def test_a_system_prompt_of_blocks_is_one_text_and_returns_as_it_was() -> None:
    system = [{"type": "text", "text": "one"}, {"type": "text", "text": "two", **CACHE}]

    chat = from_anthropic(agent(), system)

    assert chat.messages[0].content == "one\ntwo"
    assert to_anthropic(chat).request["system"] is system


def test_without_a_system_prompt_an_empty_one_stands_in_and_is_not_sent() -> None:
    chat = from_anthropic(agent())

    assert chat.messages[0] == Message("system", "")
    assert set(to_anthropic(chat).request) == {"messages"}


def test_a_changed_system_prompt_keeps_its_form_and_its_cache_mark() -> None:
    system = [{"type": "text", "text": "one"}, {"type": "text", "text": "two", **CACHE}]
    chat = from_anthropic(agent(), system)

    written = to_anthropic(chat, draft(chat, {0: Message("system", "short")}))

    assert written.system == [{"type": "text", "text": "short", **CACHE}]
    assert written.first_change == 0


def test_a_changed_result_keeps_its_error_flag_cache_mark_and_picture() -> None:
    messages = agent()
    chat = from_anthropic(messages)
    changes = {3: Message("user", "[cut]", (), "toolu_1"), 4: Message("user", "", (), "toolu_2")}

    written = to_anthropic(chat, draft(chat, changes))

    first, second, text = written.messages[2]["content"]
    assert first == {"type": "tool_result", "tool_use_id": "toolu_1", "content": "[cut]", **CACHE}
    assert second["is_error"] is True
    assert second["content"] == [messages[2]["content"][1]["content"][1]]
    assert text is messages[2]["content"][2]
    assert written.first_change == 2


def test_thinking_stays_until_the_first_change_and_then_goes_whole() -> None:
    chat = from_anthropic(agent())
    changes = {3: Message("user", "[cut]", (), "toolu_1")}

    written = to_anthropic(chat, draft(chat, changes))

    assert written.messages[1] is chat.original[1]
    assert written.messages[3]["content"] == [{"type": "text", "text": "Done."}]
    assert written.thinking_dropped == 1


def test_thinking_can_be_kept_past_a_change_or_dropped_altogether() -> None:
    chat = from_anthropic(agent())
    changed = draft(chat, {3: Message("user", "[cut]", (), "toolu_1")})

    kept = to_anthropic(chat, changed, Thinking.KEEP)
    dropped = to_anthropic(chat, None, Thinking.DROP)

    assert kept.messages[3] is chat.original[3]
    assert [b["type"] for b in dropped.messages[1]["content"]] == ["text", "tool_use", "tool_use"]
    assert (kept.thinking_dropped, dropped.thinking_dropped) == (0, 2)
    assert dropped.first_change == 1


def test_a_changed_assistant_message_loses_its_thinking_but_not_its_calls() -> None:
    chat = from_anthropic(agent())
    before = chat.messages[2]
    now = Message("assistant", "Reading.", (before.tool_calls[0], ToolCall("toolu_2", "ls", '{"')))

    written = to_anthropic(chat, draft(chat, {2: now}), Thinking.KEEP)

    text, first, second = written.messages[1]["content"]
    assert text == {"type": "text", "text": "Reading."}
    assert first is CALL
    assert (second["name"], second["input"]) == ("ls", {"raw": '{"'})
    assert written.thinking_dropped == 1


def test_a_message_of_which_nothing_is_left_is_not_sent() -> None:
    chat = from_anthropic([*agent(), {"role": "assistant", "content": [THOUGHT]}])

    written = to_anthropic(chat, None, Thinking.DROP)

    assert len(written.messages) == 4


def test_a_dropped_result_leaves_the_others_of_its_message() -> None:
    chat = from_anthropic(agent())

    written = to_anthropic(chat, draft(chat, {3: None, 5: None}))

    assert [b["tool_use_id"] for b in written.messages[2]["content"]] == ["toolu_2"]


def test_an_inserted_result_joins_those_of_the_same_turn() -> None:
    chat = from_anthropic(agent())
    kept = [Slot(message, Fate.KEPT, (index,)) for index, message in enumerate(chat.messages)]
    missing = Slot(Message("user", "[gone]", (), "toolu_9"), Fate.INSERTED)

    written = to_anthropic(chat, Draft((*kept[:3], missing, *kept[3:])))

    results = written.messages[2]["content"]
    assert [b.get("tool_use_id") for b in results] == ["toolu_9", "toolu_1", "toolu_2", None]


def test_a_summary_becomes_a_message_of_its_own() -> None:
    chat = from_anthropic(agent())
    summary = Slot(Message("user", "so far"), Fate.SUMMARISED, tuple(range(1, 6)))
    kept = [Slot(chat.messages[index], Fate.KEPT, (index,)) for index in (0, 6)]

    written = to_anthropic(chat, Draft((kept[0], summary, kept[1])))

    assert written.messages[0] == {"role": "user", "content": "so far"}
    assert written.messages[1]["content"] == [{"type": "text", "text": "Done."}]
    assert written.first_change == 0


def test_blocks_of_the_provider_s_own_tools_are_named_and_kept() -> None:
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    messages = [{"role": "assistant", "content": [search, found, {"type": "text", "text": "x"}]}]

    chat = from_anthropic(messages)

    assert chat.messages[1].content == "[server_tool_use web_search]\n[web_search_tool_result]\nx"
    assert chat.messages[1].tool_calls == ()
    assert chat.unseen_tokens > 0
    assert to_anthropic(chat).messages[0] is messages[0]


def test_a_text_document_is_read_and_replaced_with_its_message() -> None:
    source = {"type": "text", "media_type": "text/plain", "data": "the notes"}
    document = {"type": "document", "title": "notes.txt", "source": source}
    chat = from_anthropic([{"role": "user", "content": [document]}])

    written = to_anthropic(chat, draft(chat, {1: Message("user", "cut")}))

    assert chat.messages[1].content == "[document notes.txt]\nthe notes"
    assert written.messages == [{"role": "user", "content": [{"type": "text", "text": "cut"}]}]


def test_an_image_is_counted_by_its_size_and_its_base64_never_is() -> None:
    shot = {"type": "base64", "media_type": "image/png", "data": png(1500, 1000, 3_000_000)}
    chat = from_anthropic([{"role": "user", "content": [{"type": "image", "source": shot}]}])

    assert estimate(chat.messages) < 20
    assert chat.unseen_tokens == 2000
    assert chat.counted_by(ByteQuarter()).count(chat.messages) == 2000 + estimate(chat.messages)


def test_counting_with_images_says_that_it_estimates() -> None:
    shot = {"type": "url", "url": "https://example.com/a.png"}
    with_image = from_anthropic([{"role": "user", "content": [{"type": "image", "source": shot}]}])
    without = from_anthropic([{"role": "user", "content": "hello"}])

    seen = measured(with_image.counted_by(BpeCounter()), with_image.messages)
    plain = measured(without.counted_by(BpeCounter()), without.messages)

    assert (seen.is_exact, plain.is_exact) == (False, True)
    assert seen.why == "images and files are estimated"


def test_text_alone_has_nothing_unseen() -> None:
    source = {"type": "text", "media_type": "text/plain", "data": "the notes"}
    said = {"role": "user", "content": [{"type": "document", "source": source}]}
    called = {"role": "assistant", "content": [{"type": "text", "text": "x"}, CALL]}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}

    chat = from_anthropic([said, called, {"role": "user", "content": [result]}], "system")

    assert chat.unseen_tokens == 0


def test_thinking_is_counted_by_its_bytes() -> None:
    thought = {**THOUGHT, "thinking": "x" * 400}
    secret = {**SECRET, "data": "y" * 800}

    chat = from_anthropic([{"role": "assistant", "content": [thought, secret]}])

    assert chat.unseen_tokens == 300


def test_files_are_counted_by_their_length() -> None:
    pdf = {"type": "base64", "media_type": "application/pdf", "data": "A" * 400_000}
    large = from_anthropic([{"role": "user", "content": [{"type": "document", "source": pdf}]}])
    link = {"type": "url", "url": "https://example.com/a.pdf"}
    small = from_anthropic([{"role": "user", "content": [{"type": "document", "source": link}]}])
    parts = [
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "A" * 400_000}},
        {"type": "input_audio", "input_audio": {"data": "A" * 64_000, "format": "mp3"}},
    ]
    openai = from_openai([{"role": "user", "content": parts}])

    assert large.unseen_tokens == 10_000
    assert small.unseen_tokens == 2_000
    assert [part.unseen for part in openai.parts] == [0, 10_000 + 31]
    assert openai.messages[1].content == "[file a.pdf]\n[input_audio]"


def test_an_image_in_low_detail_has_a_fixed_size() -> None:
    url = {"url": f"data:image/png;base64,{png(3000, 3000)}", "detail": "low"}

    chat = from_openai([{"role": "user", "content": [{"type": "image_url", "image_url": url}]}])

    assert chat.unseen_tokens == 85


def test_a_chat_that_lost_its_end_changed_there() -> None:
    chat = from_anthropic(agent())

    written = to_anthropic(chat, draft(chat, {6: None}))

    assert written.messages == list(chat.original[:3])
    assert written.first_change == 3


def test_a_text_that_was_no_list_of_blocks_stays_none() -> None:
    chat = from_anthropic([{"role": "user", "content": "long"}, {"role": "user", "content": "x"}])
    changes = {1: Message("user", "short"), 2: Message("user", " ")}

    written = to_anthropic(chat, draft(chat, changes))

    assert written.messages == [{"role": "user", "content": "short"}]


def _b64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


JPEG = (
    b"\xff\xd8\xff\xe0\x00\x04ab\xff\xff\xfe\x00\x03c\xff\xc2\x00\x11\x08"
    + struct.pack(">HH", 480, 640)
    + bytes(20)
)


@pytest.mark.parametrize(
    ("raw", "size"),
    [
        (base64.b64decode(png(640, 480)), (640, 480)),
        (b"GIF89a" + struct.pack("<HH", 640, 480) + bytes(20), (640, 480)),
        (JPEG, (640, 480)),
        (b"RIFF\0\0\0\0WEBPVP8X" + bytes(8) + b"\x7f\x02\x00\xdf\x01\x00" + bytes(9), (640, 480)),
        (b"RIFF\0\0\0\0WEBPVP8L" + bytes(5) + (639 | 479 << 14).to_bytes(4, "little"), (640, 480)),
        (b"RIFF\0\0\0\0WEBPVP8 " + bytes(10) + struct.pack("<HH", 640, 480), (640, 480)),
        (b"\x89PNG\r\n\x1a\n", None),
        (b"\xff\xd8\xff\xe0", None),
        (b"RIFF\0\0\0\0WEBPVP8?", None),
        (b"\xff\xd8\xff\xc4\x00\x04ab" + JPEG[2:], (640, 480)),
        (b"\xff\xd8\xff\xcc\x00\x04ab" + JPEG[2:], (640, 480)),
        (b"<svg>", None),
        (b"", None),
    ],
)
def test_an_image_s_size_is_read_from_its_header(raw: bytes, size: tuple[int, int] | None) -> None:
    assert image_size(_b64(raw)) == size
    assert image_size(_b64(raw + bytes(300_001))) == size or size is None


def test_what_is_no_base64_has_no_size() -> None:
    assert image_size("é not base64 at all") is None


def test_the_tokens_of_an_image_are_bounded() -> None:
    assert image_tokens((1, 1)) == 1
    assert image_tokens((750, 1000)) == 1000
    assert image_tokens((8000, 8000)) == 4000
    assert image_tokens(None) == 1600


def chat_messages() -> list[Json]:
    function = {"name": "read_file", "arguments": '{"path": "a.py"}'}
    return [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "name": "ada", "content": [{"type": "text", "text": "Port it"}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "x = 1"},
        {"role": "assistant", "content": None, "refusal": "I cannot."},
    ]


def test_an_openai_chat_is_one_message_per_dict() -> None:
    chat = from_openai(chat_messages())

    assert chat.messages == (
        Message("system", "Be brief."),
        Message("user", "Port it"),
        Message("assistant", "", (ToolCall("call_1", "read_file", '{"path": "a.py"}'),)),
        Message("user", "x = 1", (), "call_1"),
        Message("assistant", "I cannot."),
    )


def test_an_openai_chat_without_instructions_gets_an_empty_stand_in_that_is_not_sent() -> None:
    messages = chat_messages()[1:]

    chat = from_openai(messages)

    assert chat.messages[0] == Message("system", "")
    assert to_openai(chat).messages == messages


def test_changed_openai_messages_keep_their_role_and_name_and_raw_arguments() -> None:
    chat = from_openai(chat_messages())
    call = ToolCall("call_1", "read_file", '{"path": "a')
    changes = {
        0: Message("system", "Brief."),
        1: Message("user", "Port"),
        2: Message("assistant", "", (call,)),
        4: Message("assistant", "No."),
    }

    written = to_openai(chat, draft(chat, changes))

    function = {"name": "read_file", "arguments": '{"path": "a'}
    assert written.messages == [
        {"role": "developer", "content": "Brief."},
        {"role": "user", "name": "ada", "content": [{"type": "text", "text": "Port"}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
        },
        chat.original[3],
        {"role": "assistant", "content": "No.", "refusal": None},
    ]


def test_what_openai_s_chat_gains_is_written_in_its_roles() -> None:
    chat = from_openai(chat_messages())
    kept = [Slot(message, Fate.KEPT, (index,)) for index, message in enumerate(chat.messages)]
    gone = Slot(Message("user", "[gone]", (), "call_1"), Fate.INSERTED)
    summary = Slot(Message("user", "so far"), Fate.SUMMARISED, (1,))

    written = to_openai(chat, Draft((kept[0], summary, kept[2], gone, kept[4])))

    assert written.messages[1] == {"role": "user", "content": "so far"}
    assert written.messages[3] == {"role": "tool", "tool_call_id": "call_1", "content": "[gone]"}
    assert written.first_change == 1


def test_an_openai_image_is_marked_and_kept_when_its_text_changes() -> None:
    url = {"url": f"data:image/png;base64,{png(600, 500, 9000)}"}
    image = {"type": "image_url", "image_url": url}
    chat = from_openai([{"role": "user", "content": [{"type": "text", "text": "see"}, image]}])

    written = to_openai(chat, draft(chat, {1: Message("user", "cut")}))

    assert chat.messages[1].content == "see\n[image 600×500]"
    assert chat.unseen_tokens == 400
    assert written.messages[0]["content"] == [{"type": "text", "text": "cut"}, image]


def test_a_draft_of_another_chat_is_refused() -> None:
    chat = from_anthropic(agent())
    other = Draft((Slot(Message("user", "x"), Fate.KEPT, (40,)),))

    with pytest.raises(ValueError, match=r"not of this chat: it has a message 40, the chat has 7"):
        to_anthropic(chat, other)
    with pytest.raises(ValueError, match="not of this chat"):
        to_openai(from_openai([]), other)


USER: Json = {"role": "user"}
BAD_ANTHROPIC: list[tuple[Any, str]] = [
    ("hello", r"messages\[0\]: an object expected, str given"),
    ({"content": "x"}, r"messages\[0\]\.role: text expected, missing"),
    ({"role": "tool", "content": "x"}, r"messages\[0\]\.role: 'tool' is none of user, assistant"),
    (USER, r"messages\[0\]\.content: text or a list of blocks expected, missing"),
    ({**USER, "content": 7}, r"messages\[0\]\.content: text or a list of blocks expected, int"),
    ({**USER, "content": ["x"]}, r"messages\[0\]\.content\[0\]: a block expected, str given"),
    ({**USER, "content": [{}]}, r"messages\[0\]\.content\[0\]\.type: text expected, missing"),
    (
        {**USER, "content": [{"type": "text", "text": "x"}, {"type": "text"}]},
        r"messages\[0\]\.content\[1\]\.text: text expected, missing",
    ),
    (
        {**USER, "content": [{"type": "text", "text": "x"}, {"type": "tool_result"}]},
        r"messages\[0\]\.content\[1\]\.tool_use_id: text expected, missing",
    ),
    (
        {**USER, "content": [{"type": "tool_result", "tool_use_id": ""}]},
        r"messages\[0\]\.content\[0\]\.tool_use_id: must not be empty",
    ),
    (
        {"role": "assistant", "content": [{**CALL, "input": "{}"}]},
        r"messages\[0\]\.content\[0\]\.input: an object expected, str given",
    ),
    (
        {"role": "assistant", "content": [{**CALL, "input": {"x": {1}}}]},
        r"messages\[0\]\.content\[0\]\.input: not JSON",
    ),
]


@pytest.mark.parametrize(("message", "says"), BAD_ANTHROPIC)
def test_what_cannot_be_read_from_anthropic_is_named(message: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        from_anthropic([message])


def test_what_cannot_be_read_of_the_system_prompt_is_named() -> None:
    with pytest.raises(ValueError, match=r"system\[0\]\.text: text expected, missing"):
        from_anthropic([], [{"type": "text"}])
    with pytest.raises(ValueError, match="system: text or a list of blocks expected, int given"):
        from_anthropic([], 7)  # type: ignore[arg-type]


BAD_OPENAI: list[tuple[Any, str]] = [
    (None, r"messages\[0\]: an object expected, missing"),
    ({"role": "owner", "content": ""}, r"messages\[0\]\.role: 'owner' is none of system, dev"),
    ({"role": "tool", "content": "x"}, r"messages\[0\]\.tool_call_id: text expected, missing"),
    ({"role": "user", "content": {}}, r"messages\[0\]\.content: text or a list of parts exp"),
    ({"role": "function", "name": "f"}, r"messages\[0\]: function_call is the older form"),
    ({"role": "assistant", "refusal": 1}, r"messages\[0\]\.refusal: text expected, int given"),
    (
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f"}}]},
        r"messages\[0\]\.tool_calls\[0\]\.function\.arguments: text expected, missing",
    ),
    ({"role": "assistant", "tool_calls": [7]}, r"messages\[0\]\.tool_calls\[0\]: an object exp"),
]


@pytest.mark.parametrize(("message", "says"), BAD_OPENAI)
def test_what_cannot_be_read_from_openai_is_named(message: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        from_openai([message])


def test_special_token_text_passes_through_unchanged() -> None:
    text = "The manual says <|endoftext|> and <|im_start|>system end a turn; <|fim_prefix|> too."
    message = {"role": "user", "content": text}

    assert from_anthropic([message]).messages[1].content == text
    assert to_openai(from_openai([message])).messages[0] is message


def test_engine_messages_that_never_were_a_provider_s_can_be_sent_too() -> None:
    history = [
        Message("system", "S"),
        Message("user", "go"),
        Message("assistant", "ok", (ToolCall("a", "bash", "{}"), ToolCall("b", "bash", ""))),
        Message("user", "1", (), "a"),
        Message("user", "2", (), "b"),
        Message("assistant", ""),
    ]

    anthropic, openai = as_anthropic(history), as_openai(history)

    assert problem({"model": "m", "max_tokens": 1, **anthropic.request}) is None
    assert anthropic.system == "S"
    assert [len(m["content"]) for m in anthropic.messages[1:]] == [3, 2]
    assert from_openai(openai.messages).messages == tuple(history)
