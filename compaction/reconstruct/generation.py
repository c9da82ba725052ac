"""Which generation of harness9 wrote a session, told by what its rows and records show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from compaction.reconstruct.fits import Walk
from compaction.reconstruct.history import History
from compaction.reconstruct.model import Generation
from compaction.records import CompactionRecord
from compaction.summary import COMPACTION_MARKER, ONE_SHOT_MARKER


@dataclass(frozen=True, slots=True)
class Hypotheses:
    """How well the records go with the rows under each assumption."""

    view: Walk
    write_back: Walk


def generation_of(
    history: History, records: Sequence[CompactionRecord], tried: Hypotheses
) -> tuple[Generation, str]:
    """The generation and, in a sentence, what shows it. Never told by dates."""
    if not records:
        return _without_records(history)
    view, write_back = tried.view.weight, tried.write_back.weight
    if write_back > view or (write_back == view != (0, 0) and _begins_compacted(history)):
        return Generation.WRITE_BACK, "The stored rows are what its compactions left."
    if view > (0, 0):
        fitting = tried.view.accepted
        return Generation.VIEW, (
            f"{fitting} of {len(records)} records add up with stored rows that no compaction "
            "replaced."
        )
    return _by_traces(history, records)


def _without_records(history: History) -> tuple[Generation, str]:
    if not history.messages:
        return Generation.UNKNOWN, "There are neither messages nor compaction records."
    if any(message.content.startswith(ONE_SHOT_MARKER) for message in history.messages):
        return Generation.CLASSIC, "A stored message is the summary of the older compactor."
    if _begins_compacted(history):
        return Generation.WRITE_BACK, "The stored rows begin with a compaction message."
    return Generation.CLASSIC, (
        "There are no compaction records, as with the older compactors; a session that never came "
        "near its window would look the same."
    )


def _by_traces(history: History, records: Sequence[CompactionRecord]) -> tuple[Generation, str]:
    if _begins_compacted(history):
        return Generation.WRITE_BACK, "The stored rows begin with a compaction message."
    if any(_went_on_from(earlier, later) for earlier, later in pairwise(records)):
        return Generation.WRITE_BACK, "A compaction went on from what an earlier one left."
    return Generation.UNKNOWN, "None of the records adds up with the stored rows."


def _went_on_from(earlier: CompactionRecord, later: CompactionRecord) -> bool:
    """Whether `later` saw what `earlier` left, and a few messages more."""
    return (
        earlier.msgs_after < earlier.msgs_before
        and earlier.msgs_after < later.msgs_before < earlier.msgs_before
        and earlier.tokens_after < later.tokens_before < earlier.tokens_before
    )


def _begins_compacted(history: History) -> bool:
    return bool(history.messages) and history.messages[0].content.startswith(COMPACTION_MARKER)
