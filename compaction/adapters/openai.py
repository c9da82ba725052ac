"""OpenAI's chat format: one dict per message, results in messages of their own role."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from compaction.adapters.chat import (
    Chat,
    Json,
    Part,
    Piece,
    Written,
    expect,
    first_change,
    named,
    pieces,
)
from compaction.adapters.media import audio_tokens, file_tokens, image_size, image_tokens
from compaction.messages import Message, ToolCall
from compaction.provenance import Draft

ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
"""Role to the engine's role; `tool` is apart, since it becomes a user message with a result id."""

_SPOKEN = {"text": "text", "refusal": "refusal"}
"""Parts that are text, and the field that holds it."""


def from_openai(messages: Sequence[Json]) -> Chat:
    """Read a conversation as it is passed to the chat completions API.

    Each dict becomes one engine message; a developer's is a system message to the engine. Images,
    recordings and files become a short mark in the text; see `Chat.unseen_tokens`. Nothing is
    copied or changed. Raises ValueError naming the message and the field that cannot be read.
    """
    found = [
        _read(at, expect(message, dict, f"messages[{at}]", "an object"))
        for at, message in enumerate(messages)
    ]
    if not found or not found[0][0].is_system:
        found.insert(0, (Message("system"), Part(None)))
    return Chat(
        tuple(message for message, _ in found), tuple(part for _, part in found), tuple(messages)
    )


def _read(at: int, message: Json) -> tuple[Message, Part]:
    where = f"messages[{at}]"
    role = named(message.get("role"), f"{where}.role")
    if message.get("function_call") is not None or role == "function":
        raise ValueError(f"{where}: function_call is the older form; use tool_calls")
    content = message.get("content")
    parts = () if content is None or isinstance(content, str) else _parts(content, where)
    text = content if isinstance(content, str) else _text(parts, f"{where}.content")
    part = Part(at, parts, sum(map(_unseen_tokens, parts)))
    if role == "tool":
        call = named(message.get("tool_call_id"), f"{where}.tool_call_id")
        return Message("user", text, (), call), part
    if role not in ROLES:
        raise ValueError(f"{where}.role: {role!r} is none of {', '.join([*ROLES, 'tool'])}")
    refusal = message.get("refusal")
    if refusal is not None:
        text = "\n".join(filter(None, (text, expect(refusal, str, f"{where}.refusal", "text"))))
    return Message(ROLES[role], text, tuple(_calls(message, where))), part


def _calls(message: Json, where: str) -> Iterator[ToolCall]:
    calls = message.get("tool_calls")
    listed = () if calls is None else expect(calls, (list, tuple), f"{where}.tool_calls", "a list")
    for index, call in enumerate(listed):
        place = f"{where}.tool_calls[{index}]"
        expect(call, dict, place, "an object")
        kind, field = _kind(call)
        inner = expect(call.get(kind), dict, f"{place}.{kind}", "an object")
        yield ToolCall(
            named(call.get("id"), f"{place}.id"),
            named(inner.get("name"), f"{place}.{kind}.name"),
            str(expect(inner.get(field), str, f"{place}.{kind}.{field}", "text")),
        )


def _kind(call: Json) -> tuple[str, str]:
    return ("custom", "input") if call.get("type") == "custom" else ("function", "arguments")


def _parts(content: Any, where: str) -> tuple[Json, ...]:
    place = f"{where}.content"
    listed = expect(content, (list, tuple), place, "text or a list of parts")
    for index, part in enumerate(listed):
        expect(part, dict, f"{place}[{index}]", "a part")
        named(part.get("type"), f"{place}[{index}].type")
    return tuple(listed)


def _text(parts: Sequence[Json], where: str) -> str:
    return "\n".join(_told(part, f"{where}[{index}]") for index, part in enumerate(parts))


def _told(part: Json, where: str) -> str:
    kind = part["type"]
    if kind in _SPOKEN:
        field = _SPOKEN[kind]
        return str(expect(part.get(field), str, f"{where}.{field}", "text"))
    if kind == "image_url":
        size = image_size(_data(part))
        return f"[image {size[0]}×{size[1]}]" if size else "[image]"
    name = _held(part, "file").get("filename")
    return f"[{kind} {name}]" if isinstance(name, str) else f"[{kind}]"


def _held(part: Json, field: str) -> Json:
    held = part.get(field)
    return held if isinstance(held, dict) else {}


def _data(part: Json) -> str:
    """The base64 of an image; empty where it is elsewhere."""
    url = _held(part, "image_url").get("url")
    return url.partition(",")[2] if isinstance(url, str) and url.startswith("data:") else ""


def _unseen_tokens(part: Json) -> int:
    match part["type"]:
        case "image_url":
            is_low = _held(part, "image_url").get("detail") == "low"
            return 85 if is_low else image_tokens(image_size(_data(part)))
        case "input_audio":
            return audio_tokens(len(str(_held(part, "input_audio").get("data", ""))))
        case "file":
            return file_tokens(len(str(_held(part, "file").get("file_data", ""))))
        case _:
            return 0


def to_openai(chat: Chat, draft: Draft | None = None) -> Written:
    """The conversation as `draft` leaves it, ready for the chat completions API.

    A message that was kept is the same object as before. Where only the text of one changed, its
    name, role, images and files stay. Without a draft, everything is as it was read.

    Raises ValueError where the draft is not of this chat.
    """
    going = pieces(chat, draft or Draft.of(chat.messages))
    messages = [_written(chat, piece) for piece in going if not _is_stand_in(chat, piece)]
    return Written(messages, first_change=first_change(messages, chat.original))


def as_openai(messages: Sequence[Message]) -> Written:
    """Engine messages that never were a provider's, for the chat completions API."""
    return Written(list(map(_new, messages)))


def _is_stand_in(chat: Chat, piece: Piece) -> bool:
    apart = piece.source is not None and chat.parts[piece.source].at is None
    return apart and not piece.message.content


def _written(chat: Chat, piece: Piece) -> Json:
    at = None if piece.source is None else chat.parts[piece.source].at
    if piece.source is None or at is None:
        return _new(piece.message)
    original = chat.original[at]
    if not piece.is_changed:
        return original
    return _edited(original, chat.messages[piece.source], piece.message)


def _edited(original: Json, before: Message, after: Message) -> Json:
    edited = dict(original)
    if after.content != before.content:
        edited["content"] = _content(original.get("content"), after.content)
        if original.get("refusal") is not None:
            edited["refusal"] = None  # its text is in the content now
    if after.tool_calls != before.tool_calls:
        edited.pop("tool_calls", None)
        if after.tool_calls:
            edited["tool_calls"] = list(_calls_now(original, before, after))
    return edited


def _content(content: Any, text: str) -> Any:
    if content is None or isinstance(content, str):
        return text
    rest = [part for part in content if part["type"] not in _SPOKEN]
    said = [{"type": "text", "text": text}] if text.strip() else []
    return [*said, *rest] or text


def _calls_now(original: Json, before: Message, after: Message) -> Iterator[Json]:
    known = list(zip(before.tool_calls, original.get("tool_calls") or (), strict=True))
    for call in after.tool_calls:
        same = [given for was, given in known if was == call]
        like = [given for was, given in known if was.id == call.id]
        yield same[0] if same else _with(like[0] if like else _new_call(call), call)


def _with(given: Json, call: ToolCall) -> Json:
    kind, field = _kind(given)
    return {**given, kind: {**given[kind], "name": call.name, field: call.arguments}}


def _new(message: Message) -> Json:
    if message.is_tool_result:
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content}
    role = message.role if message.role in ROLES else "user"
    if not message.tool_calls:
        return {"role": role, "content": message.content}
    calls = [_new_call(call) for call in message.tool_calls]
    return {"role": role, "content": message.content or None, "tool_calls": calls}


def _new_call(call: ToolCall) -> Json:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}
