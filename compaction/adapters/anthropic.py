"""Anthropic's Messages format: system apart, messages made of blocks, results among the user's."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Any

from compaction.adapters.anthropic_blocks import THINKING, is_in_text, text_of, unseen_tokens
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
from compaction.messages import Message, ToolCall
from compaction.provenance import Draft, Fate, Slot

ROLES = ("user", "assistant", "system")


class Thinking(StrEnum):
    """What becomes of thinking blocks. None is ever altered: it stays as signed, or goes whole."""

    UNTIL_CHANGE = "until-change"
    """They stay up to the first message that changed. Newer models tie a block to everything before
    it and refuse it once that is different."""
    KEEP = "keep"
    """All stay, except in a message that was changed itself. For models up to 4.5 with thinking
    enabled, which ask for the blocks of the tool calls under way."""
    DROP = "drop"
    """All go."""


def from_anthropic(messages: Sequence[Json], system: str | list[Json] | None = None) -> Chat:
    """Read a conversation as it is passed to the Messages API.

    A user message with tool results becomes one engine message per result, and one for what else it
    holds. Images and files become a short mark in the text; see `Chat.unseen_tokens`. Nothing is
    copied or changed. Raises ValueError naming the message and the field that cannot be read.
    """
    found = [_system(system)]
    for at, message in enumerate(messages):
        found += _read(at, expect(message, dict, f"messages[{at}]", "an object"))
    return Chat(
        tuple(message for message, _ in found),
        tuple(part for _, part in found),
        tuple(messages),
        system,
    )


def _system(system: Any) -> tuple[Message, Part]:
    blocks = () if system is None or isinstance(system, str) else _blocks(system, "system")
    text = system if isinstance(system, str) else text_of(blocks, "system")
    return Message("system", text), Part(None, blocks)


def _read(at: int, message: Json) -> Iterator[tuple[Message, Part]]:
    where = f"messages[{at}]"
    role = named(message.get("role"), f"{where}.role")
    if role not in ROLES:
        raise ValueError(f"{where}.role: {role!r} is none of {', '.join(ROLES)}")
    content = message.get("content")
    if isinstance(content, str):
        yield Message(role, content), Part(at)
        return
    blocks = _blocks(content, f"{where}.content")
    if role == "user":
        yield from _read_user(at, blocks, f"{where}.content")
    else:
        calls = tuple(
            _call(block, f"{where}.content[{index}]")
            for index, block in enumerate(blocks)
            if block["type"] == "tool_use"
        )
        text = text_of(blocks, f"{where}.content")
        yield Message(role, text, calls), Part(at, blocks, unseen_tokens(blocks))


def _read_user(at: int, blocks: tuple[Json, ...], where: str) -> Iterator[tuple[Message, Part]]:
    numbered = list(enumerate(blocks))
    for is_result, group in groupby(numbered, lambda item: item[1]["type"] == "tool_result"):
        stretch = list(group)
        if is_result:
            for index, block in stretch:
                yield _result(at, block, f"{where}[{index}]")
        else:
            own = tuple(block for _, block in stretch)
            start = stretch[0][0]
            yield Message("user", text_of(own, where, start)), Part(at, own, unseen_tokens(own))
    if not blocks:
        yield Message("user"), Part(at)


def _result(at: int, block: Json, where: str) -> tuple[Message, Part]:
    call = named(block.get("tool_use_id"), f"{where}.tool_use_id")
    content = block.get("content", "")
    inner = () if content is None or isinstance(content, str) else _blocks(content, where)
    text = content if isinstance(content, str) else text_of(inner, f"{where}.content")
    return Message("user", text, (), call), Part(at, (block,), unseen_tokens(inner))


def _call(block: Json, where: str) -> ToolCall:
    arguments = expect(block.get("input"), dict, f"{where}.input", "an object")
    try:
        raw = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}.input: not JSON: {error}") from error
    name = named(block.get("name"), f"{where}.name")
    return ToolCall(named(block.get("id"), f"{where}.id"), name, raw)


def _blocks(content: Any, where: str) -> tuple[Json, ...]:
    listed = expect(content, (list, tuple), where, "text or a list of blocks")
    for index, block in enumerate(listed):
        expect(block, dict, f"{where}[{index}]", "a block")
        named(block.get("type"), f"{where}[{index}].type")
    return tuple(listed)


def to_anthropic(
    chat: Chat, draft: Draft | None = None, thinking: Thinking = Thinking.UNTIL_CHANGE
) -> Written:
    """The conversation as `draft` leaves it, ready for the Messages API.

    A message of which everything was kept is the same object as before. Where only the text of one
    changed, its error flag, cache marks, images and files stay. Results that stand together go into
    one user message, as the API asks. Without a draft, everything is as it was read.

    Raises ValueError where the draft is not of this chat.
    """
    going = list(pieces(chat, draft or Draft.of(chat.messages)))
    system = _system_of(chat, going)
    turns = _joined(_turns(chat, going))
    messages = [turn.message for turn in turns if turn.is_original or turn.message["content"]]
    lost = sum(turn.thinking_lost for turn in turns)
    change = _change(chat, system, messages)
    start = {Thinking.DROP: 0, Thinking.UNTIL_CHANGE: change, Thinking.KEEP: None}[thinking]
    if start is not None:
        messages, more = _without_thinking(messages, start)
        lost += more
    return Written(messages, system, _change(chat, system, messages), lost)


def as_anthropic(messages: Sequence[Message]) -> Written:
    """Engine messages that never were a provider's, for the Messages API."""
    texts = [message.content for message in messages if message.is_system]
    rest = (message for message in messages if not message.is_system)
    written = to_anthropic(Chat((), (), ()), Draft(tuple(Slot(m, Fate.INSERTED) for m in rest)))
    return Written(written.messages, "\n\n".join(filter(str.strip, texts)) or None)


def _change(chat: Chat, system: object, messages: Sequence[Json]) -> int | None:
    return first_change(messages, chat.original) if system is chat.system else 0


@dataclass(frozen=True, slots=True)
class _Turn:
    """One message on its way out."""

    message: Json
    is_original: bool = False
    thinking_lost: int = 0


def _system_of(chat: Chat, going: Sequence[Piece]) -> str | list[Json] | None:
    for piece in going:
        if piece.source is not None and chat.parts[piece.source].at is None:
            if not piece.is_changed:
                return chat.system
            blocks = chat.parts[piece.source].blocks
            text = piece.message.content
            return [_text_block(text, blocks)] if blocks else text
    return None


def _turns(chat: Chat, going: Sequence[Piece]) -> Iterator[_Turn]:
    whole = Counter(part.at for part in chat.parts)

    def place(piece: Piece) -> int | None:
        return None if piece.source is None else chat.parts[piece.source].at

    for at, group in groupby(going, place):
        stretch = list(group)
        if at is None:
            yield from (_Turn(_new(piece.message)) for piece in stretch if piece.source is None)
        elif len(stretch) == whole[at] and not any(piece.is_changed for piece in stretch):
            yield _Turn(chat.original[at], is_original=True)
        else:
            yield _rebuilt(chat, at, stretch)


def _rebuilt(chat: Chat, at: int, stretch: Sequence[Piece]) -> _Turn:
    original = chat.original[at]
    if isinstance(original["content"], str):
        text = stretch[0].message.content
        return _Turn({**original, "content": text if text.strip() else []})
    blocks = [block for piece in stretch for block in _blocks_of(chat, piece)]
    # Thinking is the assistant's, whose messages are one piece: what was rebuilt has none left.
    lost = _thinking_in(original["content"])
    return _Turn({**original, "content": blocks}, thinking_lost=lost)


def _blocks_of(chat: Chat, piece: Piece) -> Sequence[Json]:
    assert piece.source is not None
    blocks = chat.parts[piece.source].blocks
    if not piece.is_changed:
        return blocks
    if piece.message.is_tool_result:
        return [_with_result(blocks[0], piece.message.content)]
    return _edited(blocks, chat.messages[piece.source], piece.message)


def _with_result(block: Json, text: str) -> Json:
    content = block.get("content")
    rest = [] if content is None or isinstance(content, str) else content
    media = [inner for inner in rest if not is_in_text(inner)]
    new = _text_block(text, rest)
    if not media and "cache_control" not in new:
        return {**block, "content": text}
    return {**block, "content": [*([new] if text.strip() else []), *media]}


def _edited(blocks: Sequence[Json], before: Message, after: Message) -> list[Json]:
    """The blocks of a changed message: new text for old, calls as they are now, no thinking."""
    text_changed = after.content != before.content
    said = [_text_block(after.content, blocks)] if text_changed and after.content.strip() else []
    calls = list(after.tool_calls)
    known = iter(before.tool_calls)
    kept: list[Json] = []
    for block in blocks:
        if block["type"] in THINKING:
            continue
        if block["type"] == "tool_use":
            kept += _call_now(block, next(known), calls)
        elif not (text_changed and is_in_text(block)):
            kept.append(block)
    return [*said, *kept, *map(_new_call, calls)]


def _call_now(block: Json, call: ToolCall, calls: list[ToolCall]) -> list[Json]:
    """The block of a call as it is now, if it is still among `calls`, from which it is taken."""
    if call in calls:
        calls.remove(call)
        return [block]
    for other in calls:
        if other.id == call.id:
            calls.remove(other)
            return [{**block, "name": other.name, "input": _input(other.arguments)}]
    return []


def _new(message: Message) -> Json:
    text = message.content
    if message.is_tool_result:
        result = {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": text}
        return {"role": "user", "content": [result]}
    role = message.role if message.role in ROLES else "user"
    if not message.tool_calls:
        return {"role": role, "content": text if text.strip() else []}
    said = [{"type": "text", "text": text}] if text.strip() else []
    return {"role": role, "content": [*said, *map(_new_call, message.tool_calls)]}


def _new_call(call: ToolCall) -> Json:
    arguments = _input(call.arguments)
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments}


def _input(arguments: str) -> Json:
    try:
        value = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        value = None
    # The API takes objects only; arguments that were cut are no JSON any more.
    return value if isinstance(value, dict) else {"raw": arguments}


def _text_block(text: str, replaced: Sequence[Json]) -> Json:
    marks = [b["cache_control"] for b in replaced if is_in_text(b) and b.get("cache_control")]
    cache = {"cache_control": marks[-1]} if marks else {}
    return {"type": "text", "text": text, **cache}


def _joined(turns: Iterable[_Turn]) -> list[_Turn]:
    out: list[_Turn] = []
    for turn in turns:
        last = out[-1] if out else _Turn({"content": ""}, is_original=True)
        rebuilt = not (last.is_original and turn.is_original)
        if rebuilt and _is_result(last, -1) and _is_result(turn, 0):
            content = [*last.message["content"], *turn.message["content"]]
            lost = last.thinking_lost + turn.thinking_lost
            out[-1] = _Turn({**last.message, "content": content}, thinking_lost=lost)
        else:
            out.append(turn)
    return out


def _is_result(turn: _Turn, index: int) -> bool:
    content = turn.message["content"]
    if isinstance(content, str) or not content:
        return False
    return bool(content[index]["type"] == "tool_result")


def _thinking_in(content: Any) -> int:
    return 0 if isinstance(content, str) else sum(b["type"] in THINKING for b in content)


def _without_thinking(messages: Sequence[Json], start: int) -> tuple[list[Json], int]:
    out, lost = list(messages[:start]), 0
    for message in messages[start:]:
        count = _thinking_in(message["content"])
        if not count:
            out.append(message)
            continue
        lost += count
        rest = [block for block in message["content"] if block["type"] not in THINKING]
        if rest:
            out.append({**message, "content": rest})
    return out, lost
