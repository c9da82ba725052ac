"""A summariser without a model: it quotes and it counts, and says nothing of its own.

Every line is a stretch of the conversation between “ and ”, cut only at its end and then marked
with …, or a count. The same conversation always gives the same answer, of at most `MAX_BYTES`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from compaction.anchors import ABSENT, Anchor, parse_summary, render, says_nothing
from compaction.messages import Message, ToolCall
from compaction.placeholder import parse_placeholder
from compaction.summary import COMPACTION_MARKER, ONE_SHOT_MARKER, SummaryRequest
from compaction.utf8 import byte_length

MAX_BYTES = 4096
"""Of the whole answer, in UTF-8."""

# Bytes for each section; with the headings they come to less than MAX_BYTES.
_ROOM = {
    "user_intent": 640,
    "execution_progress": 1000,
    "key_decision": 700,
    "tried_solution": 800,
    "next_step": 240,
}
_SUMMARY_ROOM = 500
_QUOTE = 200
_CARRIED = 220
_NAME = 120

_DECISION = re.compile(
    r"\b(?:decid(?:e|ed|ing)|instead|because|cho(?:ose|osing|se|sen)|rather than|go(?:ing)? with"
    r"|switch(?:ed|ing)? to)\b|决定|改用|改为|选择|采用|换成|放弃|因为|而不是",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:done|finished|completed|fixed|implemented|works now|pass(?:es|ed)?)\b"
    r"|完成|修复了|已修复|已实现|已验证|通过了|测试通过",
    re.IGNORECASE,
)
_INTENTION = re.compile(
    r"\b(?:I'll|I will|I'm going to|I am going to|let me|let's|next|now I|need to|remaining)\b"
    r"|接下来|下一步|我将|我会|我来|让我|需要|准备|打算|还要",
    re.IGNORECASE,
)
# How tools report an error; source code that merely handles one looks different.
_ERROR = re.compile(
    r"(?:error|exception|failure)s?(?:\[\w+\])?(?::|：| \d)|^\W*(?:error|fatal|panic|failed)\b"
    r"|\b(?:failed to|cannot|command not found|no such file|permission denied|timed out)\b"
    r"|错误[:：]|失败|异常[:：]|无法|找不到|拒绝",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n+")
_REFERENCE = re.compile(r"^- (.+) \(\d+行\) - offloaded tool result$", re.MULTILINE)
_FILE_KEYS = frozenset({"path", "file_path", "filepath", "filename", "file", "target_file"})


class OfflineSummariser:
    """A `compaction.Summariser` that works with no key, no network and no luck."""

    name = "offline"

    def summarise(self, request: SummaryRequest) -> Message:
        """The five anchors and a summary, extracted from the request's messages. Never fails.

        A section without anything new is `N/A`, so that merging keeps the earlier one. Where an
        earlier compaction message is itself among the messages, its lines are carried on.
        """
        messages = request.messages
        earlier = [m for m in messages if _is_compaction(m)]
        fresh = [m for m in messages if not _is_compaction(m)]
        found = {
            "user_intent": _intent(fresh),
            "execution_progress": _progress(fresh, earlier),
            "key_decision": _quotes(_sentences(fresh, _DECISION)),
            "tried_solution": _tried(fresh),
            "next_step": _next(fresh),
        }
        anchors = [
            Anchor(kind, _within(room, [*_carried(earlier, kind), *found[kind]]) or ABSENT)
            for kind, room in _ROOM.items()
        ]
        summary = _within(_SUMMARY_ROOM, _summary(fresh))
        text = f"## Anchors\n\n{render(anchors)}\n\n## Summary\n{summary}"
        return Message("assistant", text)


def _is_compaction(message: Message) -> bool:
    return message.is_human and message.content.startswith((COMPACTION_MARKER, ONE_SHOT_MARKER))


def _intent(messages: Sequence[Message]) -> list[str]:
    asked = [m.content for m in messages if m.is_human and m.content.strip()]
    if not asked:
        return []
    first = [f"- Asked first: {_opening(asked[0])}"]
    return first if len(asked) == 1 else [*first, f"- Asked last: {_opening(asked[-1])}"]


def _progress(messages: Sequence[Message], earlier: Sequence[Message]) -> list[str]:
    calls = [call for m in messages for call in m.tool_calls]
    tools = Counter(_named(call) for call in calls)
    files = Counter(path for call in calls for path in _paths(call.arguments))
    saved = dict.fromkeys(_saved(earlier, messages))
    lines = []
    if tools:
        lines.append(_listed(f"- {_count(len(calls), 'tool call')}", _times(tools)))
    if files:
        lines.append(_listed(f"- {_count(len(files), 'file')} named", _times(files)))
    if saved:
        lines.append(_listed(f"- {_count(len(saved), 'result')} saved", list(saved)))
    said = (message for message in messages if message.role == "assistant")
    return [*lines, *_quotes(_sentences(said, _DONE))[-2:]]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _named(call: ToolCall) -> str:
    return _cut(_first_line(call.name), _NAME) or "a tool without a name"


def _times(counted: Counter[str]) -> list[str]:
    return [f"{name} ×{count}" for name, count in counted.most_common()]


def _listed(title: str, items: Sequence[str], room: int = 320) -> str:
    """As many items as fit, and how many more there are."""
    line = f"{title}: {items[0]}"
    for index, item in enumerate(items[1:], start=1):
        if byte_length(line) + byte_length(item) > room:
            return f"{line}, and {len(items) - index} more"
        line += f", {item}"
    return line


def _paths(arguments: str) -> list[str]:
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return []
    if not isinstance(value, dict):
        return []
    named = (item for key, item in value.items() if key in _FILE_KEYS)
    return [
        _cut(line, _NAME) for item in named if isinstance(item, str) and (line := _first_line(item))
    ]


def _saved(earlier: Iterable[Message], messages: Iterable[Message]) -> Iterator[str]:
    for message in earlier:
        yield from (_cut(path, _NAME) for path in _REFERENCE.findall(message.content))
    for message in messages:
        if message.is_tool_result and (found := parse_placeholder(message.content)):
            yield _cut(found.path, _NAME)


def _tried(messages: Sequence[Message]) -> list[str]:
    """Error lines of tool results, each with what the agent said or did next."""
    replies = _replies(messages)
    lines = []
    for index, message in enumerate(messages):
        if message.is_tool_result and (error := _error_line(message.content)):
            reply = replies[index]
            lines.append(f"- {_quote(error, 140)}" + (f" then {reply}" if reply else ""))
    return list(dict.fromkeys(lines))


def _error_line(content: str) -> str:
    # The last one: what a traceback is about stands at its end.
    found = [line for line in content.split("\n") if _ERROR.search(line)]
    return found[-1].strip() if found else ""


def _replies(messages: Sequence[Message]) -> list[str]:
    """For each message, what the next assistant message began with."""
    replies, reply = [], ""
    for message in reversed(messages):
        replies.append(reply)
        if message.role == "assistant":
            line = _first_line(message.content)
            names = ", ".join(map(_named, message.tool_calls[:3]))
            reply = _quote(line, 100) if line else _cut(names, 100)
    return replies[::-1]


def _next(messages: Sequence[Message]) -> list[str]:
    """What the agent meant to do when it last spoke; nothing where it had finished."""
    spoken = [m for m in messages if m.role == "assistant" and m.content.strip()]
    return _quotes(_sentences(spoken[-1:], _INTENTION))[-1:]


def _summary(messages: Sequence[Message]) -> list[str]:
    human = sum(m.is_human for m in messages)
    results = sum(m.is_tool_result for m in messages)
    calls = sum(len(m.tool_calls) for m in messages)
    counts = (
        f"{_count(len(messages), 'message')}, extracted without a model: {human} from the person, "
        f"{_count(calls, 'tool call')}, {_count(results, 'result')}."
    )
    spoken = [m for m in messages if m.role == "assistant" and m.content.strip()]
    return [counts, *(f"Said last: {_quote(_first_line(m.content), 300)}" for m in spoken[-1:])]


def _carried(earlier: Iterable[Message], kind: str) -> list[str]:
    anchors = (a for m in earlier for a in parse_summary(m.content).anchors if a.kind == kind)
    lines = (line for a in anchors if not says_nothing(a.content) for line in a.content.split("\n"))
    return list(dict.fromkeys(_cut(line, _CARRIED) for line in lines))


def _sentences(messages: Iterable[Message], pattern: re.Pattern[str]) -> Iterator[str]:
    for message in messages:
        if message.is_tool_result or message.is_system or not pattern.search(message.content):
            continue
        for sentence in _SENTENCE.split(message.content):
            if pattern.search(sentence):
                yield sentence.strip()


def _quotes(sentences: Iterable[str]) -> list[str]:
    return [f"- {_quote(sentence)}" for sentence in dict.fromkeys(sentences)]


def _opening(text: str, room: int = 280) -> str:
    """The first lines of a message, each quoted, as far as `room` goes."""
    quotes = ""
    for line in filter(str.strip, text.split("\n")):
        left = room - byte_length(quotes)
        if quotes and left < 40:
            break
        quotes += f" {_quote(line.strip(), max(left - 8, 40))}"
    return quotes.strip(" ")


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.split("\n") if line.strip()), "")


def _quote(text: str, room: int = _QUOTE) -> str:
    return f"“{_cut(text, room)}”"


def _cut(text: str, room: int) -> str:
    """The longest beginning of `text` within `room` bytes, marked where it is not all of it."""
    if byte_length(text) <= room:
        return text
    text = text[:room]
    while (over := byte_length(text) - room) > 0:
        text = text[: -max(over // 4, 1)]  # a character has at most four bytes
    return text + "…"


def _within(room: int, lines: Sequence[str]) -> str:
    """The first line and as many of the newest others as fit, in order."""
    kept: list[str] = []
    left = room - byte_length(lines[0]) if lines else 0
    for line in reversed(lines[1:]):
        left -= byte_length(line) + 1
        if left < 0:
            break
        kept.append(line)
    return "\n".join([*lines[:1], *reversed(kept)])
