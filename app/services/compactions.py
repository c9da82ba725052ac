"""A session's recorded compactions: the list, one step at a time, and what is proved of each."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from gettext import gettext as _
from itertools import groupby

from app.errors import NotFound
from app.services.diff import Cell, Diff, Row, Sides, diff, opened
from app.services.messages import CompactionText, Excerpt, chunk, compaction_text
from app.services.vitals import window_bounds
from app.sources.model import Session
from app.text import count, percent, plural, shortened, span, when
from compaction.messages import Message
from compaction.reconstruct import Bounds, Evidence, Verdict, View
from compaction.reconstruct.rebuild import summary_message
from compaction.records import CompactionRecord, OffloadEntry, record_line
from compaction.tiers import Tier

EVIDENCE_LABELS = {
    Evidence.EXACT: _("Exact"),
    Evidence.VERIFIED: _("Verified"),
    Evidence.UNVERIFIED: _("Not verified"),
    Evidence.UNAVAILABLE: _("Unavailable"),
}
EVIDENCE_SAYS = {
    Evidence.EXACT: _("run here"),
    Evidence.VERIFIED: _("rebuilt; counts and tokens agree with the record"),
    Evidence.UNVERIFIED: _("rebuilt in part; the figures do not prove it"),
    Evidence.UNAVAILABLE: _("the messages it saw are not in the store"),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One compaction in the list and at the head of its page."""

    n: int
    """1-based, in file order."""
    tier: int
    tier_key: str
    tier_label: str
    tokens_before: int
    tokens_after: int
    """As reported in the record; harness9 estimates bytes/4."""
    msgs_before: int
    msgs_after: int
    """As reported; the system message counts."""
    change: str
    change_class: str
    says: str
    """What it did, in words."""
    error: str
    evidence: str
    evidence_label: str
    reason: str
    timestamp: str
    """As written."""
    when: str
    """In local time."""


@dataclass(frozen=True, slots=True)
class Episode:
    """Consecutive compactions at one tier, all sound or all failed in the same way."""

    key: str
    label: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class EvidenceCount:
    grade: str
    label: str
    says: str
    count: int


@dataclass(frozen=True, slots=True)
class CompactionList:
    """The compactions of a session, a page of them."""

    session_id: str
    total: int
    first: int
    last: int
    """Numbers of those on this page, both included."""
    earlier: int | None
    """Where the page before begins; None on the first."""
    later: int | None
    episodes: tuple[Episode, ...]
    evidence: tuple[EvidenceCount, ...]
    window: str
    window_says: str
    system: str
    system_says: str
    none_says: str


@dataclass(frozen=True, slots=True)
class MovedResult:
    """A tool result that a compaction moved to a file, as its record reports it."""

    entry: OffloadEntry
    message: int | None
    """Number of the stored message; None where its row is gone."""
    is_on_disk: bool


@dataclass(frozen=True, slots=True)
class Step:
    """One compaction, with its diff where its messages are still there."""

    session_id: str
    entry: Entry
    total: int
    previous: int | None
    next: int | None
    fill: str
    fill_says: str
    duration: str
    when: str
    diff: Diff | None
    right_title: str
    said: CompactionText | None
    """Anchors and summary as the record has them."""
    offloads: tuple[MovedResult, ...]
    error_says: str
    episode_says: str


def entries(session: Session) -> tuple[Entry, ...]:
    """Every recorded compaction of a session, in file order."""
    return tuple(_entry(n, verdict) for n, verdict in enumerate(session.account.verdicts, start=1))


PAGE = 200

LONGEST_ERROR = 1_000
"""Characters of an error that are shown; a record may hold megabytes."""


def listing(session: Session, start: int = 1) -> CompactionList:
    """A page of compactions, from number `start` or the nearest there is."""
    every = entries(session)
    first = min(max(start, 1), max(len(every), 1))
    shown = every[first - 1 : first - 1 + PAGE]
    last = first - 1 + len(shown)
    counts = Counter(verdict.evidence for verdict in session.account.verdicts)
    window, window_says = window_of(session)
    system, system_says = system_of(session)
    return CompactionList(
        session.info.id,
        len(every),
        first,
        last,
        max(first - PAGE, 1) if first > 1 else None,
        last + 1 if last < len(every) else None,
        tuple(map(_episode, _alike(shown))),
        tuple(
            EvidenceCount(grade.value, EVIDENCE_LABELS[grade], EVIDENCE_SAYS[grade], counts[grade])
            for grade in Evidence
            if counts[grade]
        ),
        window,
        window_says,
        system,
        system_says,
        _none_says(session),
    )


def step(session: Session, n: int, expanded: bool = False) -> Step:
    """The page of compaction `n`. Raises NotFound when there is none of that number."""
    verdict = verdict_of(session, n)
    record, view = verdict.record, verdict.view()
    every = entries(session)
    total = len(every)
    sides = None if view is None else sides_of(session, record, view)
    fill, fill_says = _fill(session, record)
    return Step(
        session_id=session.info.id,
        entry=every[n - 1],
        total=total,
        previous=n - 1 if n > 1 else None,
        next=n + 1 if n < total else None,
        fill=fill,
        fill_says=fill_says,
        duration=_duration(record.duration),
        when=when(record.timestamp),
        diff=None if sides is None else diff(sides, expanded),
        right_title=_("What the model saw"),
        said=_said(record),
        offloads=tuple(_moved(session, record, view)),
        error_says=_error_says(record),
        episode_says=_episode_says(every, n),
    )


def verdict_of(session: Session, n: int) -> Verdict:
    """Compaction `n` of a session, 1-based. Raises NotFound."""
    total = len(session.account.verdicts)
    if not 1 <= n <= total:
        there = _("1 to %(n)s") % {"n": total} if total else _("none")
        raise NotFound(
            _("There is no compaction %(n)s; recorded: %(there)s.") % {"n": n, "there": there}
        )
    return session.account.verdicts[n - 1]


def sides_of(session: Session, record: CompactionRecord, view: View) -> Sides:
    """What the diff of a rebuilt compaction is made from.

    A stand-in of the solved size takes the system prompt's place, so that totals add up.
    """
    size = session.account.system
    system = Message("system", stand_in(size.low if size else 0))
    first, *others = view.draft.slots
    slots = (replace(first, message=system), *others) if first.sources == (0,) else (first, *others)
    return Sides(
        (system, *view.before[1:]),
        replace(view.draft, slots=slots),
        moved=frozenset(entry.tool_call_id for entry in record.offloaded or ()),
        files=_files(session),
        unknown=_unknown(session, view),
    )


def stand_in(size: int) -> str:
    """A text of `size` bytes in place of the system prompt, which is not stored."""
    return "[system prompt: not stored by harness9]".ljust(size)[:size]


def _unknown(session: Session, view: View) -> dict[int, str]:
    known, size = session.account.system, system_of(session)[0]
    says = {index: _("This message's text is not in the store.") for index in view.unknown}
    how = (
        _("%(size)s bytes, solved from the records") % {"size": size}
        if known
        else _("unknown size")
    )
    says[0] = _("The system prompt, which harness9 does not store: %(how)s.") % {"how": how}
    return says


def opened_of(
    session: Session, n: int, first: int, last: int, fate: str
) -> tuple[tuple[Row, ...], tuple[Cell, ...]]:
    """What is behind a fold of compaction `n`. Raises NotFound where there is no such fold."""
    verdict = verdict_of(session, n)
    view = verdict.view()
    if view is None:
        raise NotFound(_("There is nothing folded there."))
    return opened(sides_of(session, verdict.record, view), first, last, fate)


def _files(session: Session) -> frozenset[str]:
    return frozenset(file.tool_call_id for file in session.offloads)


def _moved(session: Session, record: CompactionRecord, view: View | None) -> Iterable[MovedResult]:
    before = () if view is None else view.before
    numbers = {message.tool_call_id: number for number, message in enumerate(before)}
    files = _files(session)
    for entry in record.offloaded or ():
        call_id = entry.tool_call_id
        yield MovedResult(entry, numbers.get(call_id) if call_id else None, call_id in files)


@dataclass(frozen=True, slots=True)
class RecordText:
    """A stretch of a record as it stands in its file."""

    session_id: str
    n: int
    file: str
    line: int
    excerpt: Excerpt


def record_text(session: Session, n: int, start: int = 0) -> RecordText:
    """At most 15,000 characters of record `n`, laid out one field a line, from `start` on.

    Raises NotFound when there is no such record.
    """
    record = verdict_of(session, n).record
    text = json.dumps(json.loads(record_line(record)), ensure_ascii=False, indent=2)
    records = session.records
    return RecordText(
        session.info.id,
        n,
        records.path.name if records.path else "",
        records.lines[n - 1].line,
        chunk(text, start),
    )


def _entry(n: int, verdict: Verdict) -> Entry:
    record = verdict.record
    known = record.tier in set(Tier)
    tier = Tier(record.tier) if known else Tier.NONE
    change = record.tokens_after - record.tokens_before
    return Entry(
        n=n,
        tier=record.tier,
        tier_key=tier.name.lower(),
        tier_label=tier.label if known else _("Tier %(n)s") % {"n": record.tier},
        tokens_before=record.tokens_before,
        tokens_after=record.tokens_after,
        msgs_before=record.msgs_before,
        msgs_after=record.msgs_after,
        change=_change(record.tokens_before, change),
        change_class="better" if change < 0 else "worse" if change > 0 else "dim",
        says=_says(record),
        error=shortened(record.error, LONGEST_ERROR),
        evidence=verdict.evidence.value,
        evidence_label=EVIDENCE_LABELS[verdict.evidence],
        reason=verdict.reason,
        timestamp=record.timestamp,
        when=when(record.timestamp),
    )


def _change(before: int, change: int) -> str:
    if not before or not change:
        return "±0 %" if before else "–"
    return f"{change / before:+.0%}".replace("-", "−").replace("%", " %")


def _says(record: CompactionRecord) -> str:
    parts = []
    if record.summarized:
        parts.append(_("%(n)s summarised") % {"n": count(record.summarized)})
    if record.offloaded:
        parts.append(plural(len(record.offloaded), _("moved to a file"), _("moved to files")))
    if record.error:
        removed = record.msgs_before - record.msgs_after
        parts.append(
            _("%(n)s dropped") % {"n": count(removed)} if removed > 0 else _("nothing removed")
        )
    if not parts:
        parts.append(_("nothing changed"))
    return ", ".join(parts)


def _error_says(record: CompactionRecord) -> str:
    if not record.error or record.tier == Tier.EMERGENCY:
        return ""
    if record.msgs_after >= record.msgs_before:
        return _("it fell back, and nothing was removed")
    return _("it fell back to dropping messages")


def _alike(every: Sequence[Entry]) -> list[list[Entry]]:
    return [list(group) for _key, group in groupby(every, key=lambda e: (e.tier, e.error))]


def _episode(entries: Sequence[Entry]) -> Episode:
    return Episode(entries[0].tier_key, entries[0].tier_label, tuple(entries))


def _episode_says(every: Sequence[Entry], n: int) -> str:
    group = next(g for g in _alike(every) if g[0].n <= n <= g[-1].n)
    if len(group) == 1:
        return ""
    says = (
        _("%(i)s of %(n)s in a row with this error: compactions %(first)s to %(last)s.")
        if group[0].error
        else _("%(i)s of %(n)s in a row at this tier: compactions %(first)s to %(last)s.")
    )
    return says % {
        "i": n - group[0].n + 1,
        "n": len(group),
        "first": group[0].n,
        "last": group[-1].n,
    }


def window_of(session: Session) -> tuple[str, str]:
    """The context window in words, and how it is known."""
    window = window_bounds(session)
    if window is None:
        return _("unknown"), _("context window; the records do not bound it")
    if window.low == window.high:
        return count(window.low), _("tokens of context window, solved from the records")
    return _range(window), _("tokens of context window, bounded by the records")


def system_of(session: Session) -> tuple[str, str]:
    """The system prompt's size in words, and how it is known."""
    size = session.account.system
    if size is None:
        return _("unknown"), _("bytes of system prompt; harness9 does not store it")
    return _range(size), _("bytes of system prompt, solved from the records")


def _range(bounds: Bounds) -> str:
    return span(bounds.low, bounds.high)


def _fill(session: Session, record: CompactionRecord) -> tuple[str, str]:
    window = window_bounds(session)
    if window is None:
        return "", _("fill unknown: the context window is not recorded")
    low, high = (percent(record.tokens_before / size, 1) for size in (window.high, window.low))
    shown = high if low == high else f"{low.removesuffix(' %')}–{high}"
    return shown, _("of %(window)s tokens, solved from the records") % {"window": _range(window)}


def _none_says(session: Session) -> str:
    if not session.rows:
        return _("Nothing is stored of this session but files.")
    return _(
        "harness9 wrote no compaction record for this session: either it never came near the "
        "limit of its context window, or it ran under an older compactor, which keeps none."
    )


def _duration(nanoseconds: int) -> str:
    seconds = nanoseconds / 1e9
    if seconds >= 1:
        return f"{seconds:,.1f} s"
    return f"{seconds * 1e3:,.1f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:,.0f} µs"


def _said(record: CompactionRecord) -> CompactionText | None:
    if not record.anchors and not record.summary_text:
        return None
    return compaction_text(summary_message(record).content)
