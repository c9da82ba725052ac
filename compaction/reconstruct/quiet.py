"""Model calls that left no record: in the view generation their lists were below the warn line.

That bounds the window from below. It also gives away records that fit rows they do not belong
to: the calls that follow them in the same run would have left records as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from compaction.reconstruct.bounds import Bounds
from compaction.reconstruct.fits import Fit, Walk
from compaction.reconstruct.history import History
from compaction.settings import Settings
from compaction.tiers import Tier, tier_for
from compaction.tokens import BYTES_PER_TOKEN
from compaction.utf8 import byte_length


def largest_quiet_call(history: History, walk: Walk) -> int:
    """The most tokens that a list had, at the least, without leaving a record."""
    by_count = _by_count(walk.fits)
    calls = (size for run in history.runs for size in _quiet(history, run, by_count, walk.system))
    return max(calls, default=0)


def without_hushed_runs(history: History, walk: Walk, window: Bounds) -> Walk:
    """`walk`, less the records in whose runs as many calls should have left one and did not."""
    if window.is_empty:
        return walk
    hushed: set[range] = set()
    fitting = [fit.plan.count for fit in walk.fits if fit.fits and fit.plan]
    by_count = _by_count(walk.fits)
    for run in {history.run_at(count) for count in fitting}:
        sizes = _quiet(history, run, by_count, walk.system)
        loud = sum(tier_for(size, Settings(window.high)) > Tier.NONE for size in sizes)
        if loud >= sum(count in run for count in fitting):
            hushed.add(run)
    if not hushed:
        return walk
    return replace(walk, fits=tuple(_hushed(history, fit, hushed) for fit in walk.fits))


def _hushed(history: History, fit: Fit, runs: Collection[range]) -> Fit:
    if not fit.fits or fit.plan is None or history.run_at(fit.plan.count) not in runs:
        return fit
    return Fit(misfit="calls with more in their lists follow where it would be, without a record")


def _by_count(fits: Sequence[Fit]) -> dict[int, Fit]:
    return {fit.plan.count: fit for fit in fits if fit.fits and fit.plan}


def _quiet(
    history: History, run: range, by_count: Mapping[int, Fit], system: Bounds
) -> Iterator[int]:
    """Tokens, at the least, of each list in `run` that went to the model without a record."""
    spared = 0
    for row in run[1:]:
        if row - 1 in history.versions:
            # It may have been shorter before it became a placeholder.
            spared += max(
                0, history.versions[row - 1][-1].bytes - history.versions[row - 1][0].bytes
            )
        if history.messages[row].role != "assistant":
            continue
        if row in by_count:
            spared += _moved_away(history, by_count[row])
        else:
            yield (system.low + history.sums[row] - spared) // BYTES_PER_TOKEN


def _moved_away(history: History, fit: Fit) -> int:
    moves = fit.plan.moves if fit.plan else ()
    return sum(
        max(0, byte_length(history.messages[move.row].content) - move.to.bytes) for move in moves
    )
