"""A session's vital signs: which generation of data it is, and how full its context window was."""

from __future__ import annotations

from dataclasses import dataclass
from gettext import gettext as _

from app.sources.model import Generation, Session
from app.text import count
from compaction.reconstruct import Bounds
from compaction.settings import Settings
from compaction.tiers import tier_for
from compaction.tokens import estimate, format_count

_LABELS = {
    Generation.CLASSIC: _("classic"),
    Generation.VIEW: _("view"),
    Generation.WRITE_BACK: _("write-back"),
    Generation.UNKNOWN: _("unknown"),
}
_COMPLETENESS = {
    Generation.CLASSIC: _("The stored rows are the complete history."),
    Generation.VIEW: _("The stored rows are the complete history; placeholders can be put back."),
    Generation.WRITE_BACK: _("Compactions replaced rows: this is what the last one left."),
    Generation.UNKNOWN: _("Whether the stored rows are the complete history is not known."),
}
_UNBOUNDED = 1 << 40
"""Tokens; no context window is as large, so a bound above it is none."""
_CLOSE = 1.05
"""Bounds this close together are told as one figure."""


@dataclass(frozen=True, slots=True)
class Badge:
    """The generation of a session's data."""

    key: str
    label: str
    says: str
    """How it was found out."""
    completeness: str
    """What it means for the history."""


@dataclass(frozen=True, slots=True)
class Vitals:
    """What the status bar tells about a session."""

    badge: Badge
    tokens: int
    """Estimated, of the stored rows."""
    window: str
    """The context window in words; empty when the records do not tell."""
    window_says: str
    share: float | None
    """Of the window, 0 to 1 and beyond; None when the window is not known closely."""
    tier_key: str


def badge_of(session: Session) -> Badge:
    """The badge of a session."""
    generation = session.generation
    return Badge(
        generation.value,
        _LABELS[generation],
        session.generation_reason,
        _COMPLETENESS[generation],
    )


def vitals_of(session: Session) -> Vitals:
    """A session's vital signs, the window solved from the tiers of its compactions."""
    tokens = estimate(session.messages)
    window, says, middle = _window(session.account.window)
    return Vitals(
        badge=badge_of(session),
        tokens=tokens,
        window=window,
        window_says=says,
        share=tokens / middle if middle else None,
        tier_key=tier_for(tokens, Settings(middle)).name.lower() if middle else "none",
    )


def window_bounds(session: Session) -> Bounds | None:
    """The context window in tokens, where the session's records bound it on both sides."""
    bounds = session.account.window
    if bounds is None or bounds.is_empty or bounds.high >= _UNBOUNDED:
        return None
    return bounds


def _window(bounds: Bounds | None) -> tuple[str, str, int | None]:
    """The window in words, how it is known, and a figure to reckon with."""
    if bounds is None or bounds.is_empty or (bounds.low <= 1 and bounds.high >= _UNBOUNDED):
        return "", _("No record tells how large the context window was."), None
    if bounds.high >= _UNBOUNDED:
        least = format_count(bounds.low)
        return f"≥ {least}", _("The window had at least {n} tokens.").format(n=least), None
    says = _("Solved from the tiers of the records, at harness9's thresholds: {low}–{high}.")
    says = says.format(low=count(bounds.low), high=count(bounds.high))
    if bounds.high <= bounds.low * _CLOSE:
        middle = (bounds.low + bounds.high) // 2
        return format_count(middle), says, middle
    return f"{format_count(bounds.low)}–{format_count(bounds.high)}", says, None
