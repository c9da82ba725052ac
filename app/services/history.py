"""A session's stored messages, a window at a time."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from gettext import gettext as _
from itertools import groupby

from app.errors import NotFound
from app.services.explorer import tier_key, tier_label, title_of
from app.services.messages import (
    Excerpt,
    Kind,
    MessageView,
    chunk,
    kind_of,
    message_view,
    pairs_of,
)
from app.services.vitals import Badge, badge_of
from app.sources.account import FindOriginal
from app.sources.model import Generation, Row, Session
from app.text import first_line
from compaction.messages import Message
from compaction.records import CompactionRecord
from compaction.tokens import estimate

WHOLE = 200
"""A session of up to so many messages is shown at once."""
WINDOW = 100
"""Messages of a longer one that are shown together."""
_MOST_DIGITS = 9
_BEFORE = 20


@dataclass(frozen=True, slots=True)
class Turn:
    """What follows one human line, up to the next."""

    number: int
    message: int
    """Number of the human message."""
    title: str


@dataclass(frozen=True, slots=True)
class Batch:
    """The beginning of a run: messages that were saved together."""

    number: int
    saved_at: int
    messages: int


@dataclass(frozen=True, slots=True)
class Marker:
    """A compaction, where it happened: after the messages that it saw."""

    number: int
    tier_key: str
    tier_label: str
    tokens_before: int
    tokens_after: int
    """As the record reports them."""
    msgs_before: int
    msgs_after: int
    error: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the history: a message, perhaps the first of a run."""

    message: MessageView
    batch: Batch | None
    markers: tuple[Marker, ...]
    """Compactions just before this message."""
    damage: str
    is_target: bool


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """A window on the history, and where it lies in the whole."""

    id: str
    title: str
    total: int
    first: int
    last: int
    """Numbers of the first and last message shown; 0 when there are none."""
    entries: tuple[Entry, ...]
    turns: tuple[Turn, ...]
    turn: int
    """Number of the turn that the window begins in."""
    humans: int
    assistants: int
    results: int
    summaries: int
    """Messages that a compaction left in place of others."""
    tokens: int
    runs: int
    badge: Badge
    compactions: int
    unplaced: int
    """Compactions of which it is not known between which messages they happened."""
    ending: tuple[Marker, ...]
    """Compactions after the last message."""
    earlier: int
    """The message to go to for what comes before; 0 when nothing does."""
    later: int


def history_page(session: Session, at: int | None = None) -> HistoryPage:
    """The window around message `at` (1-based), or the newest one."""
    messages = session.messages
    kinds = [kind_of(message) for message in messages]
    turns = tuple(_turns(messages, kinds))
    first, last = _window(len(messages), at)
    markers = _markers(session)
    placed = sum(map(len, markers.values()))
    return HistoryPage(
        id=session.info.id,
        title=title_of(session.info),
        total=len(messages),
        first=first,
        last=last,
        entries=tuple(_entries(session, markers, first, last, at)),
        turns=turns,
        turn=sum(1 for turn in turns if turn.message <= max(first, at or 0)),
        humans=kinds.count(Kind.HUMAN),
        assistants=kinds.count(Kind.ASSISTANT),
        results=sum(1 for message in messages if message.is_tool_result),
        summaries=kinds.count(Kind.COMPACTION),
        tokens=estimate(messages),
        runs=len(_batches(session.rows)),
        badge=badge_of(session),
        compactions=len(session.account.verdicts),
        unplaced=len(session.account.verdicts) - placed,
        ending=tuple(markers[last]) if last == len(messages) else (),
        earlier=first - 1 if first > 1 else 0,
        later=last + 1 if last < len(messages) else 0,
    )


def _window(total: int, at: int | None) -> tuple[int, int]:
    """First and last number to show, 1-based; (0, 0) of an empty session."""
    if total <= WHOLE:
        return min(1, total), total
    first = total if at is None else at - _BEFORE
    first = max(1, min(first, total - WINDOW + 1))
    return first, first + WINDOW - 1


def _turns(messages: Sequence[Message], kinds: Sequence[Kind]) -> Iterator[Turn]:
    humans = (number for number, kind in enumerate(kinds, 1) if kind is Kind.HUMAN)
    for turn, number in enumerate(humans, 1):
        yield Turn(turn, number, first_line(messages[number - 1].content, 70))


def _batches(rows: Sequence[Row]) -> dict[int, Batch]:
    """Runs by the number of their first message."""
    batches: dict[int, Batch] = {}
    start = 1
    for number, (saved_at, run) in enumerate(groupby(rows, key=lambda row: row.created_at), 1):
        batches[start] = Batch(number, saved_at, sum(1 for _row in run))
        start += batches[start].messages
    return batches


def _markers(session: Session) -> defaultdict[int, list[Marker]]:
    """Compactions by the number of the last message that they saw."""
    markers: defaultdict[int, list[Marker]] = defaultdict(list)
    if session.generation is Generation.WRITE_BACK:
        return markers  # the rows that they saw have been replaced
    for number, verdict in enumerate(session.account.verdicts, 1):
        record = verdict.record
        seen = record.msgs_before - 1  # the system prompt is counted, but not stored
        if verdict.is_rebuilt and 0 <= seen <= len(session.rows):
            markers[seen].append(_marker(number, record))
    return markers


def _marker(number: int, record: CompactionRecord) -> Marker:
    return Marker(
        number=number,
        tier_key=tier_key(record.tier),
        tier_label=tier_label(record.tier),
        tokens_before=record.tokens_before,
        tokens_after=record.tokens_after,
        msgs_before=record.msgs_before,
        msgs_after=record.msgs_after,
        error=first_line(record.error),
    )


def _entries(
    session: Session,
    markers: Mapping[int, Sequence[Marker]],
    first: int,
    last: int,
    at: int | None,
) -> Iterator[Entry]:
    pairs = pairs_of(session.messages)
    batches = _batches(session.rows)
    for number, row in enumerate(session.rows[max(0, first - 1) : last], first):
        view = message_view(row.message, number, pairs)
        before = tuple(markers.get(number - 1, ()))
        yield Entry(view, batches.get(number), before, row.damage, number == at)


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of something that is too long for its row."""

    id: str
    title: str
    number: int
    what: str
    """`text`, `raw`, `original`, or the place of a call in its message, from 0."""
    heading: str
    excerpt: Excerpt
    says: str = ""
    """What was checked about the text, or why there is none."""
    is_sound: bool = True
    messages: int = 0


def message_part(
    session: Session, number: int, what: str, start: int, original_of: FindOriginal
) -> Part:
    """At most 15,000 characters of one message's `what`, from `start` on.

    `what` is `text`, `raw` (the whole message as JSON), `original` (what a placeholder stands for;
    `original_of` finds it), or the place of a tool call in the message, from 0.

    Raises NotFound when there is no such message or part.
    """
    if not 1 <= number <= len(session.rows):
        raise NotFound(f"There is no message {number} in this session; it has {len(session.rows)}.")
    message = session.rows[number - 1].message
    heading, text, says, sound = _part(message, what, original_of)
    return Part(
        id=session.info.id,
        title=title_of(session.info),
        number=number,
        what=what,
        heading=heading,
        excerpt=chunk(text, start),
        says=says,
        is_sound=sound,
        messages=len(session.rows),
    )


def _part(message: Message, what: str, original_of: FindOriginal) -> tuple[str, str, str, bool]:
    if what == "text":
        return _("Text"), message.content, "", True
    if what == "raw":
        return _("As stored"), raw_json(message), "", True
    if what == "original":
        original = original_of(message)
        if original is None:
            raise NotFound("This message is not a placeholder; nothing was taken out of it.")
        checked = _("Read from the file; its size and line count are those of the placeholder.")
        says = original.says or checked
        return _("Original"), original.text or "", says, original.is_sound
    # Python refuses to read a number of thousands of digits.
    if what.isdecimal() and len(what) <= _MOST_DIGITS and int(what) < len(message.tool_calls):
        call = message.tool_calls[int(what)]
        return call.name, call.arguments, "", True
    raise NotFound(f"A message has no part {what[:40]!r}.")


def raw_json(message: Message) -> str:
    """The message as one JSON object, in harness9's form; tool arguments are left as stored."""
    calls = ",\n    ".join(
        f'{{"id": {_quoted(call.id)}, "name": {_quoted(call.name)}, '
        f'"arguments": {call.arguments or "null"}}}'
        for call in message.tool_calls
    )
    fields = [
        f'"role": {_quoted(message.role)}',
        f'"content": {_quoted(message.content)}',
    ]
    if calls:
        fields.append(f'"tool_calls": [\n    {calls}\n  ]')
    if message.tool_call_id:
        fields.append(f'"tool_call_id": {_quoted(message.tool_call_id)}')
    return "{\n  " + ",\n  ".join(fields) + "\n}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
