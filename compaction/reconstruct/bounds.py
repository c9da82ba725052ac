"""Ranges that a number must lie in, and what each record says about the numbers it leaves out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from compaction.records import CompactionRecord
from compaction.settings import Settings
from compaction.tiers import Tier, tier_for
from compaction.tokens import BYTES_PER_TOKEN

LARGEST = 1 << 62


@dataclass(frozen=True, slots=True)
class Bounds:
    """The whole numbers from `low` to `high`, both included."""

    low: int
    high: int

    @property
    def is_empty(self) -> bool:
        return self.low > self.high

    def meet(self, other: Bounds) -> Bounds:
        """What lies in both; may be empty."""
        return Bounds(max(self.low, other.low), min(self.high, other.high))

    def __str__(self) -> str:
        low, high = f"{self.low:,}", f"{self.high:,}"
        return low if low == high else f"{low}–{high}"


ANY_SIZE = Bounds(0, LARGEST)
ANY_WINDOW = Bounds(1, LARGEST)


def missing_bytes(tokens: int, known: int) -> Bounds:
    """What must be added to `known` bytes for the estimate to come out as `tokens`."""
    least = tokens * BYTES_PER_TOKEN - known
    return Bounds(least, least + BYTES_PER_TOKEN - 1)


def window_of(records: Iterable[CompactionRecord]) -> Bounds:
    """The windows in which every record's tokens make up its tier, at the usual thresholds."""
    bounds = ANY_WINDOW
    for record in records:
        bounds = bounds.meet(_window_of(record))
    return bounds


def _window_of(record: CompactionRecord) -> Bounds:
    tokens = record.tokens_before
    if not Tier.WARN <= record.tier <= Tier.EMERGENCY or tokens <= 0:
        return ANY_WINDOW
    # The larger the window, the lower the tier.
    high = _largest_window(tokens, record.tier)
    low = 1 if record.tier == Tier.EMERGENCY else _largest_window(tokens, record.tier + 1) + 1
    return Bounds(low, high)


def _largest_window(tokens: int, tier: int) -> int:
    """The largest window that `tokens` fill to `tier` or more: at 60 % it is below twice them."""
    low, high = 0, 2 * tokens + 1
    while high - low > 1:
        middle = (low + high) // 2
        if tier_for(tokens, Settings(middle)) >= tier:
            low = middle
        else:
            high = middle
    return low


def window_of_quiet(tokens: int) -> Bounds:
    """The windows in which `tokens` are not yet worth a warning."""
    return Bounds(_largest_window(tokens, Tier.WARN) + 1, LARGEST)


def window_of_budget(fits: int, too_much: int | None) -> Bounds:
    """The windows whose fallback budget of 80 % holds `fits` tokens but not `too_much`."""
    low = -(-fits * 100 // 80)
    high = LARGEST if too_much is None else (too_much * 100 - 1) // 80
    return Bounds(max(low, 1), high)
