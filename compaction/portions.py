"""A conversation in portions that a model can take: cut with a mark rather than sent too long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from compaction.messages import Message
from compaction.summary import as_text
from compaction.utf8 import byte_length, encoded

LEAST = 400
"""Bytes of a single text below which nothing is cut."""


def portions(messages: Sequence[Message], room: int, most: int) -> list[tuple[Message, ...]]:
    """The messages in order, in at most `most` portions of about `room` bytes of text each.

    Where they do not fit, the longest texts lose their middle first, all down to the same size.
    Where even that is not enough, messages in the middle are left out. Both leave a mark.
    """
    sizes = list(map(_size, messages))
    if sum(sizes) <= room:
        return [tuple(messages)]
    # A quarter is what packing whole messages may waste.
    cap = min(_cap(sizes, most * room * 3 // 4), room // 4)
    packed = _packed([_shortened(message, cap) for message in messages], room)
    if len(packed) <= most:
        return packed
    kept = [packed[0], *packed[len(packed) - most + 1 :]] if most > 1 else packed[-1:]
    lost = len(messages) - sum(map(len, kept))
    mark = Message("user", f"[… {lost} messages left out here …]")
    where = 1 if most > 1 else 0
    kept[where] = (mark, *kept[where])
    return kept


def _size(message: Message) -> int:
    return byte_length(as_text((message,))) + 1


def _cap(sizes: Sequence[int], room: int) -> int:
    """The largest size that, as a limit for each, lets all of them fit into `room`."""
    left, count = room, len(sizes)
    for size in sorted(sizes):
        if size * count > left:
            break
        left -= size
        count -= 1
    return max(left // count if count else left, LEAST)


def _shortened(message: Message, cap: int) -> Message:
    if _size(message) <= cap:
        return message
    # The line's own words, and the mark, need a little.
    each = max(cap // (1 + len(message.tool_calls)) - 100, LEAST // 2)
    calls = tuple(
        replace(call, arguments=_cut(call.arguments, each)) for call in message.tool_calls
    )
    return replace(message, content=_cut(message.content, each), tool_calls=calls)


def _cut(text: str, room: int) -> str:
    raw = encoded(text)
    if len(raw) <= room:
        return text
    head, tail = raw[: room // 2], raw[len(raw) - room // 2 :]
    mark = f"\n[… {len(raw) - len(head) - len(tail):,} bytes left out …]\n"
    return head.decode("utf-8", "ignore") + mark + tail.decode("utf-8", "ignore")


def _packed(messages: Sequence[Message], room: int) -> list[tuple[Message, ...]]:
    packed: list[list[Message]] = [[]]
    left = room
    for message in messages:
        size = _size(message)
        if size > left and packed[-1]:
            packed.append([])
            left = room
        packed[-1].append(message)
        left -= size
    return list(map(tuple, packed))
