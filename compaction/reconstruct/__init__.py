"""Past compactions, rebuilt from what a session left on disk: stored rows and records.

    account = reconstruct(rows, records, originals)
    account.verdicts[0].evidence   # how much is known about the first record
    account.verdicts[0].view()     # its before and after, with where every message went

No model is asked and nothing is guessed: a view counts as verified only when its messages and
tokens come out as the record has them.
"""

from __future__ import annotations

from collections.abc import Sequence

from compaction.reconstruct import view, writeback
from compaction.reconstruct.bounds import LARGEST, Bounds, window_of, window_of_quiet
from compaction.reconstruct.fits import Walk
from compaction.reconstruct.generation import Hypotheses, generation_of
from compaction.reconstruct.history import History
from compaction.reconstruct.model import (
    Evidence,
    Generation,
    Originals,
    Reconstruction,
    StoredRow,
    Verdict,
    View,
)
from compaction.reconstruct.quiet import largest_quiet_call
from compaction.reconstruct.rebuild import products
from compaction.records import CompactionRecord
from compaction.settings import DEFAULT_MIN_TAIL
from compaction.tiers import Tier

__all__ = [
    "Bounds",
    "Evidence",
    "Generation",
    "Originals",
    "Reconstruction",
    "StoredRow",
    "Verdict",
    "View",
    "reconstruct",
]


def no_originals(_: object) -> None:
    """For sessions whose offloaded files are not at hand."""


def reconstruct(
    rows: Sequence[StoredRow],
    records: Sequence[CompactionRecord],
    originals: Originals = no_originals,
) -> Reconstruction:
    """What `rows` and `records` still prove about every compaction of a session.

    Both are in stored order. `originals` gives the text in the file that a stored placeholder
    names; it is called once for each, and never trusted without a check.
    """
    history = History.of(rows, records, originals)
    tail = _tail(records)
    as_view = view.best_walk(history, records, tail or DEFAULT_MIN_TAIL)
    written_back = writeback.best_walk(history, records)
    generation, reason = generation_of(history, records, Hypotheses(as_view, written_back))
    if generation is Generation.WRITE_BACK:
        walk, verdicts = written_back, writeback.verdicts(history, records, written_back)
    else:
        walk, verdicts = as_view, view.verdicts(history, records, as_view)
        verdicts = _with_replaced_rows(history, records, walk, verdicts)
    return Reconstruction(
        generation,
        reason,
        verdicts,
        walk.system if walk.accepted else None,
        _window(history, records, walk, generation),
        tail,
    )


def _tail(records: Sequence[CompactionRecord]) -> int | None:
    """The newest messages that were left alone: Warn and a summary at Full say how many."""
    for record in records:
        if record.error or record.preserved_tail < 1:
            continue
        if record.tier == Tier.WARN or (record.tier == Tier.FULL and record.anchors is not None):
            return record.preserved_tail
    return None


def _with_replaced_rows(
    history: History,
    records: Sequence[CompactionRecord],
    walk: Walk,
    verdicts: tuple[Verdict, ...],
) -> tuple[Verdict, ...]:
    """A manual compaction replaces the rows in every generation: what it left is told from them."""
    fitting = (index for index, fit in enumerate(walk.fits) if fit.fits)
    found = products(history.messages, records[: next(fitting, len(records))])
    if not found:
        return verdicts
    last = found[-1]
    earlier = records[: last + 1]
    walk = writeback.walk_from(history, earlier, walk)
    return (*writeback.verdicts(history, earlier, walk), *verdicts[last + 1 :])


def _window(
    history: History,
    records: Sequence[CompactionRecord],
    walk: Walk,
    generation: Generation,
) -> Bounds | None:
    bounds = window_of(records).meet(walk.window)
    if generation is Generation.VIEW:
        quiet = bounds.meet(window_of_quiet(largest_quiet_call(history, walk)))
        bounds = bounds if quiet.is_empty else quiet
    return None if bounds.is_empty or bounds.high == LARGEST else bounds
