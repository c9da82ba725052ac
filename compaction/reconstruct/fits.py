"""How well records go with rows, and which of several tries at all of them went best."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from compaction.reconstruct.bounds import ANY_SIZE, ANY_WINDOW, Bounds, missing_bytes
from compaction.reconstruct.model import View
from compaction.reconstruct.rebuild import Kind, Plan
from compaction.reconstruct.scales import Scales
from compaction.records import CompactionRecord
from compaction.tiers import Tier

_SEEDS = 12


@dataclass(frozen=True, slots=True)
class Fit:
    """How well a record goes with the rows."""

    plan: Plan | None = None
    """What it did, in terms of stored rows; kept also where it does not quite add up."""
    misfit: str = ""
    """Why it does not go with them; empty when it does."""
    system: Bounds = ANY_SIZE
    """What the system prompt's size must be for it to fit."""
    is_telling: bool = False
    """Its own numbers check each other: it changed the size of the list."""
    window: Bounds = ANY_WINDOW
    of_these_rows: bool = False
    """It names things that are among the rows: it was made over them, fit or not."""
    is_evidence: bool = True
    """Whether the fit says anything: next to nothing left of a list fits anywhere."""
    build: Callable[[], View] | None = None

    @property
    def fits(self) -> bool:
        return self.misfit == ""


@dataclass(frozen=True, slots=True)
class Walk:
    """One try at all records."""

    fits: tuple[Fit, ...]
    system: Bounds

    @property
    def accepted(self) -> int:
        """Records that fit, and do not fit just anything."""
        return sum(fit.fits and fit.is_evidence for fit in self.fits)

    @property
    def weight(self) -> tuple[int, int]:
        """For comparing tries: records that fit, and those among them that tell by themselves."""
        return self.accepted, sum(fit.fits and fit.is_telling for fit in self.fits)

    @property
    def window(self) -> Bounds:
        bounds = ANY_WINDOW
        for fit in self.fits:
            if fit.fits:
                bounds = bounds.meet(fit.window)
        return bounds


def weighed(
    scales: Scales, record: CompactionRecord, plan: Plan, system: Bounds, *, of_these_rows: bool
) -> Fit:
    """The fit of `plan`, with a misfit where it does not come out as recorded.

    `system` is what the size of the system prompt can be, what `record` saw being given.
    """
    count, size = scales.after(plan)
    after = system.meet(missing_bytes(record.tokens_after, size))
    if count != record.msgs_after or after.is_empty:
        says = "what it saw adds up, but what it left does not come out as recorded"
        return Fit(plan, says, system, of_these_rows=True)
    return Fit(
        plan,
        "",
        after,
        # A message added to whatever was there says nothing about what was there.
        is_telling=size != scales.before and not _is_added(plan),
        window=scales.window(plan, after),
        of_these_rows=of_these_rows,
    )


def _is_added(plan: Plan) -> bool:
    return plan.kind is Kind.SUMMARY and plan.summarised == 0


def best_of(
    walk: Callable[[Bounds, int], Walk], records: Sequence[CompactionRecord], order: Sequence[int]
) -> Walk:
    """The walk that fits the most records.

    `walk(system, seed)` goes through the records in `order`, the ones before `seed` left out:
    the first that fits then tells the size of the system prompt. A wrong first one spoils the
    rest, so a few others are given the chance.
    """
    best = walk(_told_by_emergencies(records), 0)
    for seed in _seeds(best, order):
        if 2 * best.accepted > len(order):
            break
        best = max(best, walk(ANY_SIZE, seed), key=lambda one: one.weight)
    return walk(best.system, 0)


def _seeds(first: Walk, order: Sequence[int]) -> list[int]:
    seeds = [place for place, index in enumerate(order) if not first.fits[index].fits]
    return seeds[:: max(1, len(seeds) // _SEEDS)]


def _told_by_emergencies(records: Iterable[CompactionRecord]) -> Bounds:
    """An Emergency that left nothing but the system prompt gives its size away."""
    bounds = ANY_SIZE
    for record in records:
        if record.tier == Tier.EMERGENCY and record.msgs_after == 1:
            bounds = bounds.meet(missing_bytes(record.tokens_after, 0))
    return ANY_SIZE if bounds.is_empty else bounds
