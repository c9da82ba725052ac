"""A light summary without a model: key parameters and decisions of a stretch, word for word.

It has the form of a compaction message, so that whoever reads one can read the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from compaction.folding import error_line
from compaction.messages import Message
from compaction.rounds import is_summary
from compaction.summary import COMPACTION_MARKER
from compaction.utf8 import byte_length

ROOM = 8_000
"""Bytes a digest may take; beyond that its oldest lines go."""

_TITLE = f"{COMPACTION_MARKER}\n## Summary\nIn extracts, made without a model:"
_LINE = 200
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_DECISION = re.compile(
    r"\b(?:decid\w+|instead|because|cho(?:ose|osing|se|sen)|rather than|go(?:ing)? with"
    r"|switch(?:ed|ing)? to|must(?: not)?|never)\b"
    r"|决定|改用|改为|选择|采用|换成|放弃|因为|而不是|必须|不要",
    re.IGNORECASE,
)
_LOOKED_AT = 8_000


def digest(messages: Sequence[Message], room: int = ROOM) -> Message:
    """The extracts of `messages`, newest last; lines of an earlier digest among them are kept."""
    lines = list(dict.fromkeys(line for message in messages for line in _extracts(message)))
    kept = _newest(lines, room - byte_length(_TITLE))
    left_out = len(lines) - len(kept)
    if left_out:
        kept.insert(0, f"- ({left_out:,} older lines left out)")
    return Message("user", "\n".join([_TITLE, *kept]))


def _newest(lines: Sequence[str], room: int) -> list[str]:
    kept: list[str] = []
    for line in reversed(lines):
        room -= byte_length(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept[::-1]


def _extracts(message: Message) -> Iterator[str]:
    if is_summary(message):
        yield from (line for line in message.content.split("\n") if line.startswith("- "))
    elif message.is_tool_result:
        error = error_line(message.content)
        if error:
            yield f"- error: {_cut(error)}"
    elif message.is_human:
        yield f"- asked: {_cut(message.content)}"
    else:
        yield from (f"- {_cut(sentence)}" for sentence in _decisions(message.content))
        yield from (f"- {call.name} {_cut(call.arguments)}" for call in message.tool_calls)


def _decisions(text: str) -> Iterable[str]:
    sentences = _SENTENCE.findall(text[:_LOOKED_AT])
    return (sentence for sentence in sentences if _DECISION.search(sentence))


def _cut(text: str) -> str:
    line = " ".join(text[: 2 * _LINE].split())
    return line if len(line) <= _LINE and len(text) <= 2 * _LINE else line[: _LINE - 1] + "…"
