"""Where the big tool results of a session went: each file, who refers to it, do they agree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from gettext import gettext as _

from app.errors import NotFound
from app.services.messages import Pairs, pairs_of
from app.sources.model import OffloadFile, Session
from app.sources.tool_results import Page, count_lines, line_at, read_page
from app.text import count, first_line, plural
from compaction.messages import Message
from compaction.placeholder import Gate, parse_placeholder
from compaction.utf8 import byte_length

PAGE_BYTES = 15_000
PAGE_LINES = 400


@dataclass(frozen=True, slots=True)
class Claim:
    """What a record or a placeholder says about an offloaded result."""

    source: str
    """`record` or `placeholder`."""
    number: int
    """Of the compaction or the message, 1-based."""
    gate: Gate
    path: str
    bytes: int
    lines: int


@dataclass(frozen=True, slots=True)
class OffloadRow:
    """One offloaded tool result."""

    call_id: str
    tool: str
    """Empty when no call of that id is stored."""
    gates: tuple[Gate, ...]
    """Which gates are proved to have written it; empty when nothing tells."""
    size: int | None
    """Bytes on disk; None when the file is missing."""
    path: str
    lines: int | None
    """As claimed; None when nobody says."""
    messages: tuple[int, ...]
    """Numbers of the messages in whose place it stands."""
    result: int | None
    """Number of the tool result of that call, if it is stored."""
    records: tuple[int, ...]
    """Numbers of the compactions that list it."""
    differs: str
    """How disk and claims disagree; empty when they do not."""
    is_orphan: bool
    """Whether nothing in the session speaks of it."""


@dataclass(frozen=True, slots=True)
class OffloadList:
    """All offloaded results of a session, largest first."""

    id: str
    title: str
    rows: tuple[OffloadRow, ...]
    on_disk: int
    bytes: int
    missing: int
    differing: int
    orphans: int


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class OffloadPage:
    """A stretch of an offloaded file."""

    id: str
    title: str
    row: OffloadRow
    lines: tuple[Line, ...]
    start: int
    """Bytes before it."""
    end: int
    size: int
    previous: int | None
    """The offset of the page before; None on the first."""
    next: int | None
    total_lines: int
    is_placeholder: bool
    """The file holds a placeholder: the original was overwritten."""


@dataclass(slots=True)
class _Known:
    """What is known about one call id."""

    file: OffloadFile | None = None
    claims: list[Claim] = field(default_factory=list)


def offload_list(session: Session) -> OffloadList:
    """Every offloaded result of a session: on disk, or only spoken of."""
    rows = _rows(session)
    return OffloadList(
        id=session.info.id,
        title=first_line(session.info.title),
        rows=rows,
        on_disk=sum(1 for row in rows if row.size is not None),
        bytes=sum(row.size or 0 for row in rows),
        missing=sum(1 for row in rows if row.size is None),
        differing=sum(1 for row in rows if row.size is not None and row.differs),
        orphans=sum(1 for row in rows if row.is_orphan),
    )


def offload_page(session: Session, call_id: str, offset: int) -> OffloadPage:
    """About 15,000 bytes of an offloaded file, or 400 lines, from byte `offset` on.

    Raises NotFound when the session has no file of that call, SourceUnreadable when the file
    cannot be read.
    """
    file = next((one for one in session.offloads if one.tool_call_id == call_id), None)
    row = next((one for one in _rows(session) if one.call_id == call_id), None)
    if row is None:
        raise NotFound(f"No tool result of a call {call_id[:60]!r} was offloaded in this session.")
    if file is None:
        raise NotFound(f"The file of call {call_id[:60]!r} is not in this folder any more.")
    page = read_page(file.path, offset, PAGE_BYTES)
    texts, end = _lines(page)
    first = line_at(file.path, page.start)
    return OffloadPage(
        id=session.info.id,
        title=first_line(session.info.title),
        row=row,
        lines=tuple(Line(first + index, text) for index, text in enumerate(texts)),
        start=page.start,
        end=end,
        size=page.size,
        previous=max(0, page.start - PAGE_BYTES) if page.start else None,
        next=end if end < page.size else None,
        total_lines=count_lines(file.path),
        is_placeholder=page.start == 0 and end >= page.size and _holds_placeholder(page.text),
    )


def _lines(page: Page) -> tuple[list[str], int]:
    """The lines on a page, and the byte at which the next page begins."""
    texts, end = page.text.split("\n"), page.end
    if len(texts) > PAGE_LINES and texts[PAGE_LINES:] != [""]:
        texts = texts[:PAGE_LINES]
        end = page.start + byte_length("\n".join(texts)) + 1
    elif end < page.size and texts[-1] == "":
        texts.pop()  # a line that the next page begins with
    return texts, end


def _holds_placeholder(text: str) -> bool:
    return parse_placeholder(text) is not None


def _rows(session: Session) -> tuple[OffloadRow, ...]:
    known: defaultdict[str, _Known] = defaultdict(_Known)
    for file in session.offloads:
        known[file.tool_call_id].file = file
    for call_id, claim in _claims(session):
        known[call_id].claims.append(claim)
    pairs = pairs_of(session.messages)
    results = _results(session.messages)
    rows = (_row(call_id, one, pairs, results) for call_id, one in known.items())
    return tuple(sorted(rows, key=lambda row: (-(row.size or 0), row.call_id)))


def _claims(session: Session) -> Iterable[tuple[str, Claim]]:
    for number, message in enumerate(session.messages, 1):
        found = parse_placeholder(message.content) if message.is_tool_result else None
        if found:
            yield (
                message.tool_call_id,
                Claim("placeholder", number, found.gate, found.path, found.bytes, found.lines),
            )
    for number, record in enumerate(session.records.records, 1):
        for entry in record.offloaded or ():
            yield (
                entry.tool_call_id,
                Claim("record", number, Gate.COMPACTION, entry.file_path, entry.bytes, entry.lines),
            )


def _results(messages: Sequence[Message]) -> Mapping[str, int]:
    return {
        message.tool_call_id: number
        for number, message in enumerate(messages, 1)
        if message.is_tool_result
    }


def _row(call_id: str, known: _Known, pairs: Pairs, results: Mapping[str, int]) -> OffloadRow:
    result = results.get(call_id)
    site = pairs.calls.get(result) if result else None
    claims = known.claims
    return OffloadRow(
        call_id=call_id,
        tool=site.name if site else "",
        gates=tuple(gate for gate in Gate if any(claim.gate is gate for claim in claims)),
        size=known.file.size if known.file else None,
        path=known.file.relative if known.file else claims[0].path,
        lines=claims[0].lines if claims else None,
        messages=tuple(claim.number for claim in claims if claim.source == "placeholder"),
        result=result,
        records=tuple(claim.number for claim in claims if claim.source == "record"),
        differs=_difference(known),
        is_orphan=not claims and result is None,
    )


def _difference(known: _Known) -> str:
    if known.file is None:
        claim = known.claims[0]
        said = plural(claim.bytes, "byte", "bytes")
        return _("The file is gone; it held {said}.").format(said=said)
    claimed = sorted({claim.bytes for claim in known.claims if claim.bytes != known.file.size})
    if not claimed:
        return ""
    return _("On disk {size} bytes, claimed {claimed}.").format(
        size=count(known.file.size), claimed=", ".join(map(count, claimed))
    )
