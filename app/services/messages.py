"""One message as a person reads it: who speaks, about which call, what, and cut where long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from app.services.arguments import arguments, indented
from app.text import first_line
from compaction.anchors import HEADINGS, parse_summary, says_nothing
from compaction.messages import Message, ToolCall
from compaction.placeholder import Gate, parse_placeholder
from compaction.repair import UNAVAILABLE
from compaction.summary import COMPACTION_MARKER, ONE_SHOT_MARKER
from compaction.tokens import BYTES_PER_TOKEN, message_bytes
from compaction.utf8 import byte_length

EXCERPT = 4_000
"""Characters of a text that a row carries; the rest is fetched on demand."""
CHUNK = 15_000
"""Characters that are fetched at once, at most."""

_ARGUMENT_EXCERPT = 1_500
_SLACK = 1.2
_OPEN_BYTES, _OPEN_LINES = 900, 10
_SHORT = 140
_UNASKED = 8
"""Lines of a text that are shown before the reader asks for the rest."""
_REFERENCES = "## Offloaded References\n"
_TELLING = ("path", "file_path", "command", "cmd", "pattern", "query", "url", "name", "description")


class Kind(StrEnum):
    """What a message is to a reader, which its role alone does not say."""

    SYSTEM = "system"
    HUMAN = "human"
    ASSISTANT = "assistant"
    RESULT = "result"
    OFFLOADED = "offloaded"
    """A tool result that was moved to a file; a placeholder stands in its place."""
    PLACEHOLDER = "placeholder"
    """A result that the pair repair made up, for a call whose own result is gone."""
    COMPACTION = "compaction"
    OTHER = "other"
    """A role that harness9 does not write."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A stretch of a text that may be longer."""

    text: str
    start: int
    """Characters before it."""
    total: int
    """Characters of the whole text."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def rest(self) -> int:
        """Characters after it."""
        return self.total - self.end


def excerpt(text: str, longest: int = EXCERPT) -> Excerpt:
    """The beginning of `text`; all of it where cutting would hide only a little."""
    cut = text if len(text) <= longest * _SLACK else text[:longest]
    return Excerpt(cut, 0, len(text))


def is_long(text: str, column: int) -> bool:
    """Whether `text` takes more lines of `column` characters than are shown unasked."""
    return sum(1 + len(line) // column for line in text.splitlines()) > _UNASKED


def chunk(text: str, start: int) -> Excerpt:
    """At most CHUNK characters of `text` from `start` on."""
    start = min(max(start, 0), len(text))
    return Excerpt(text[start : start + CHUNK], start, len(text))


@dataclass(frozen=True, slots=True)
class ArgumentView:
    name: str
    value: Excerpt


@dataclass(frozen=True, slots=True)
class CallView:
    """A tool call and where its result is."""

    id: str
    name: str
    hint: str
    """The most telling argument, on one line."""
    arguments: tuple[ArgumentView, ...]
    """Empty when the arguments are no JSON object; then `raw` has them."""
    raw: Excerpt
    result: int | None
    """Number of the message with the result."""


@dataclass(frozen=True, slots=True)
class AnchorView:
    heading: str
    text: Excerpt
    is_absent: bool


@dataclass(frozen=True, slots=True)
class CompactionText:
    """What a compaction message says, taken apart."""

    anchors: tuple[AnchorView, ...]
    summary: Excerpt
    references: Excerpt


@dataclass(frozen=True, slots=True)
class OffloadView:
    """What a placeholder says about the text it stands for."""

    gate: Gate
    path: str
    lines: int
    bytes: int
    preview: Excerpt


@dataclass(frozen=True, slots=True)
class MessageView:
    """Everything a row shows."""

    number: int
    """1-based place in its list."""
    kind: Kind
    role: str
    """As stored."""
    body: Excerpt
    glimpse: str
    """How the text begins, on one line."""
    is_open: bool
    """Whether a result is small enough to be shown at once."""
    is_short: bool
    """Whether it fits on the line of its heading."""
    calls: tuple[CallView, ...]
    tokens: int
    """Estimated; a row's own bytes / 4, so rows need not add up to the total."""
    bytes: int
    lines: int
    tool_call_id: str
    tool_name: str
    """Of the call that a result answers; empty when unknown."""
    call: int | None
    """Number of the message with that call."""
    compaction: CompactionText | None = None
    offload: OffloadView | None = None


@dataclass(frozen=True, slots=True)
class CallSite:
    """A tool call's place in a list of messages."""

    number: int
    name: str


@dataclass(frozen=True, slots=True)
class Pairs:
    """Which result answers which call, by the numbers of their messages."""

    calls: Mapping[int, CallSite] = field(default_factory=dict)
    """By the number of the result."""
    results: Mapping[tuple[int, int], int] = field(default_factory=dict)
    """By the number of the calling message and the index of the call in it."""


def pairs_of(messages: Sequence[Message]) -> Pairs:
    """The pairs in `messages`. Where an id occurs twice, a result answers the call before it."""
    waiting: dict[str, tuple[CallSite, int]] = {}
    calls: dict[int, CallSite] = {}
    results: dict[tuple[int, int], int] = {}
    for number, message in enumerate(messages, 1):
        for index, call in enumerate(message.tool_calls):
            waiting[call.id] = CallSite(number, call.name), index
        if message.is_tool_result and message.tool_call_id in waiting:
            site, index = waiting[message.tool_call_id]
            calls[number] = site
            results.setdefault((site.number, index), number)
    return Pairs(calls, results)


def kind_of(message: Message) -> Kind:
    """What `message` is to a reader."""
    if message.is_tool_result:
        if message.content == UNAVAILABLE:
            return Kind.PLACEHOLDER
        return Kind.OFFLOADED if parse_placeholder(message.content) else Kind.RESULT
    if message.role == "user":
        made = message.content.startswith((COMPACTION_MARKER, ONE_SHOT_MARKER))
        return Kind.COMPACTION if made else Kind.HUMAN
    return {"assistant": Kind.ASSISTANT, "system": Kind.SYSTEM}.get(message.role, Kind.OTHER)


def message_view(message: Message, number: int, pairs: Pairs | None = None) -> MessageView:
    """`message` as it is shown; `number` is its 1-based place in the list that `pairs` is of."""
    pairs = pairs or Pairs()
    site = pairs.calls.get(number)
    kind = kind_of(message)
    size = message_bytes(message)
    lines = message.content.count("\n") + 1
    content_bytes = byte_length(message.content)
    return MessageView(
        number=number,
        kind=kind,
        role=message.role,
        body=excerpt(message.content),
        glimpse=" ".join(message.content[:400].split()),
        is_open=content_bytes <= _OPEN_BYTES and lines <= _OPEN_LINES,
        is_short=lines == 1 and len(message.content) <= _SHORT,
        calls=tuple(
            _call(call, pairs.results.get((number, index)))
            for index, call in enumerate(message.tool_calls)
        ),
        tokens=size // BYTES_PER_TOKEN,
        bytes=content_bytes,
        lines=lines,
        tool_call_id=message.tool_call_id,
        tool_name=site.name if site else "",
        call=site.number if site else None,
        compaction=compaction_text(message.content) if kind is Kind.COMPACTION else None,
        offload=_offload(message.content) if kind is Kind.OFFLOADED else None,
    )


def compaction_text(content: str) -> CompactionText:
    """The anchors, summary and references in a compaction message."""
    marker, _, rest = content.partition("\n")
    if marker.strip() != COMPACTION_MARKER:
        # The one-shot summaries of older versions have no anchors.
        return CompactionText((), excerpt(content), excerpt(""))
    body, _, references = rest.partition(_REFERENCES)
    found = parse_summary(body)
    anchors = tuple(
        AnchorView(HEADINGS[anchor.kind], excerpt(anchor.content), says_nothing(anchor.content))
        for anchor in found.anchors
    )
    return CompactionText(anchors, excerpt(found.text), excerpt(references.strip()))


def _offload(content: str) -> OffloadView | None:
    found = parse_placeholder(content)
    if found is None:
        return None
    return OffloadView(
        found.gate, found.path, found.lines, found.bytes, excerpt(found.preview, EXCERPT // 2)
    )


def _call(call: ToolCall, result: int | None) -> CallView:
    members = arguments(call.arguments)
    return CallView(
        id=call.id,
        name=call.name,
        hint=_hint({one.name: one.text for one in members or ()}) or first_line(call.arguments),
        arguments=tuple(
            ArgumentView(one.name, excerpt(one.text, _ARGUMENT_EXCERPT)) for one in members or ()
        ),
        raw=excerpt(call.arguments if members else indented(call.arguments), _ARGUMENT_EXCERPT),
        result=result,
    )


def _hint(members: Mapping[str, str]) -> str:
    telling = next((members[name] for name in _TELLING if members.get(name)), "")
    return first_line(telling or next(iter(members.values()), ""))
