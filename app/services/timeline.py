"""A session's fill of the context window over its life, as a drawing's geometry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from gettext import gettext as _

from app.services.vitals import window_bounds
from app.sources.model import Generation, Session
from app.text import count
from compaction.reconstruct import Verdict
from compaction.records import CompactionRecord
from compaction.settings import Settings
from compaction.tiers import Tier
from compaction.tokens import BYTES_PER_TOKEN, format_count, prefix_bytes

WIDTH, HEIGHT = 1000, 120
"""Units of the drawing; it is stretched to whatever room there is."""
CLOSEST = 3
"""Units; markers of one tier that are closer would be drawn over each other."""


@dataclass(frozen=True, slots=True)
class Band:
    """The stretch of the window in which a tier acts."""

    tier: Tier
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Marker:
    """One recorded compaction: where it stood, and how far the tokens fell."""

    number: int
    tier: Tier
    failed: bool
    x: float
    before: float
    after: float
    """Heights in drawing units."""
    tokens_before: int
    tokens_after: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """What is drawn. Empty where a session has neither messages nor records."""

    line: str
    """Points of the history's size, as SVG wants them."""
    bands: tuple[Band, ...]
    markers: tuple[Marker, ...]
    """Fewer than there are compactions where they would be drawn over each other."""
    top: int
    """Tokens at the upper edge."""
    by_position: bool
    """The x axis counts messages; otherwise compactions, where the rows no longer tell."""


def timeline(
    sizes: Sequence[int],
    records: Sequence[CompactionRecord],
    positions: Sequence[int | None],
    settings: Settings | None,
) -> Timeline:
    """The drawing of a session.

    `sizes` are running token totals: entry i for the first i messages, the system prompt
    included where it is known. `positions` say how many stored messages each record saw, None
    where its rows are gone. `settings` carry window and thresholds where they are known.
    """
    by_position = bool(sizes) and (all(p is not None for p in positions) or not records)
    peak = max([*sizes, *(max(r.tokens_before, r.tokens_after) for r in records), 1])
    window = settings.context_window if settings else 0
    top = max(peak * 21 // 20, window)
    markers = tuple(
        Marker(
            number,
            Tier(record.tier) if record.tier in set(Tier) else Tier.NONE,
            bool(record.error),
            _x(position, len(sizes) - 1) if by_position else _x(number, len(records) + 1),
            _y(record.tokens_before, top),
            _y(record.tokens_after, top),
            record.tokens_before,
            record.tokens_after,
        )
        for number, (record, position) in enumerate(zip(records, positions, strict=True), start=1)
    )
    line = _history(sizes, top) if by_position else _sawtooth(markers)
    return Timeline(line, _bands(settings, top), _apart(markers), top, by_position)


def _apart(markers: Sequence[Marker]) -> tuple[Marker, ...]:
    """One marker of each tier where several would be drawn over each other: the fullest."""
    fullest: dict[tuple[int, Tier], Marker] = {}
    for marker in markers:
        place = int(marker.x // CLOSEST), marker.tier
        if place not in fullest or fullest[place].tokens_before < marker.tokens_before:
            fullest[place] = marker
    return tuple(sorted(fullest.values(), key=lambda marker: marker.number))


def _x(position: int | None, last: int) -> float:
    return round((position or 0) / max(last, 1) * WIDTH, 1)


def _y(tokens: int, top: int) -> float:
    return round(HEIGHT - tokens / top * HEIGHT, 1)


_POINTS = 2000


def _history(sizes: Sequence[int], top: int) -> str:
    last = len(sizes) - 1
    step = max(1, len(sizes) // _POINTS)
    chosen = sorted({*range(0, len(sizes), step), last})
    return " ".join(f"{_x(index, last)},{_y(sizes[index], top)}" for index in chosen)


def _sawtooth(markers: Sequence[Marker]) -> str:
    return " ".join(f"{m.x},{m.before} {m.x},{m.after}" for m in markers)


def _bands(settings: Settings | None, top: int) -> tuple[Band, ...]:
    if settings is None or settings.context_window <= 0:
        return ()
    edges = [
        (Tier.WARN, settings.warn),
        (Tier.SOFT, settings.soft),
        (Tier.FULL, settings.full),
        (Tier.EMERGENCY, settings.emergency),
    ]
    found = []
    for (tier, low), high in zip(edges, [*(e[1] for e in edges[1:]), 1.0], strict=True):
        upper = _y(int(high * settings.context_window), top)
        lower = _y(int(low * settings.context_window), top)
        found.append(Band(tier, upper, round(lower - upper, 1)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class TimelineView:
    """The panel with the drawing."""

    session_id: str
    chart: Timeline
    width: int
    height: int
    current: int
    """The compaction that is being looked at; 0 for none."""
    says: str
    label: str


def timeline_view(session: Session, current: int = 0) -> TimelineView:
    """The drawing of a session, as far as its rows and records tell."""
    account = session.account
    window = window_bounds(session)
    settings = Settings((window.low + window.high) // 2) if window else None
    records = [verdict.record for verdict in session.account.verdicts]
    positions: list[int | None] = [None] * len(records)
    sizes: list[int] = []
    if account.generation is not Generation.WRITE_BACK:
        system = account.system.low if account.system else 0
        sizes = [(system + size) // BYTES_PER_TOKEN for size in prefix_bytes(session.messages)]
        positions = [_position(verdict, len(sizes) - 1) for verdict in session.account.verdicts]
    chart = timeline(sizes, records, positions, settings)
    across = _("messages") if chart.by_position else _("compactions")
    says = _("Tokens (est. bytes/4) over %(across)s, up to %(top)s") % {
        "across": across,
        "top": format_count(chart.top),
    }
    if len(chart.markers) < len(records):
        says += _(" · %(n)s of %(all)s compactions drawn") % {
            "n": count(len(chart.markers)),
            "all": count(len(records)),
        }
    return TimelineView(session.info.id, chart, WIDTH, HEIGHT, current, says, says)


def _position(verdict: Verdict, last: int) -> int | None:
    position = verdict.record.msgs_before - 1
    return position if verdict.is_rebuilt and 0 <= position <= last else None
