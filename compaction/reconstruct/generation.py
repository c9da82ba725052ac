"""Which generation of harness9 wrote a session, told by what its rows and records show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from compaction.messages import Message
from compaction.reconstruct.fits import Walk
from compaction.reconstruct.history import History
from compaction.reconstruct.model import Generation
from compaction.reconstruct.writeback import took_effect
from compaction.records import CompactionRecord
from compaction.repair import UNAVAILABLE
from compaction.summary import COMPACTION_MARKER, ONE_SHOT_MARKER
from compaction.tokens import BYTES_PER_TOKEN


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
    for_view, for_write_back = _votes(records)
    for_write_back += any(map(_is_mended, history.messages))
    if for_view == for_write_back:
        for_view, for_write_back = _by_fit(history, tried)
    if for_write_back > for_view:
        return Generation.WRITE_BACK, _written_back(tried.write_back)
    if for_view > for_write_back:
        return Generation.VIEW, _viewed(records, tried.view)
    if _begins_compacted(history):
        return Generation.WRITE_BACK, "The stored rows begin with a compaction message."
    return Generation.UNKNOWN, "None of the records adds up with the stored rows."


def _votes(records: Sequence[CompactionRecord]) -> tuple[int, int]:
    """How often the record after a compaction that removed messages saw them all the same, and
    how often it saw only what was left and a few more.

    A run that was never saved makes a view session look written back, but once in a while only.
    """
    for_view = for_write_back = 0
    for one, following in pairwise(records):
        if not took_effect(one) or following.msgs_before <= one.msgs_after:
            continue
        moved = sum(entry.bytes for entry in one.offloaded or ()) // BYTES_PER_TOKEN
        grew = (
            following.msgs_before > one.msgs_before
            and following.tokens_before >= one.tokens_before - moved
        )
        shrank = (
            following.msgs_before < one.msgs_before
            or following.tokens_before < one.tokens_before - moved
        )
        for_view += grew and one.msgs_after < one.msgs_before
        for_write_back += shrank
    return for_view, for_write_back


def _by_fit(history: History, tried: Hypotheses) -> tuple[int, int]:
    """The same question answered by which assumption explains more records."""
    view, write_back = tried.view.weight, tried.write_back.weight
    if view == write_back:
        return (0, 1) if _begins_compacted(history) else (int(view > (0, 0)), 0)
    return int(view > write_back), int(write_back > view)


def _written_back(walk: Walk) -> str:
    says = "Compactions went on from what earlier ones left: the stored rows were replaced."
    if walk.accepted:
        says += f" {walk.accepted} of {len(walk.fits)} records still add up with them."
    return says


def _viewed(records: Sequence[CompactionRecord], walk: Walk) -> str:
    if not walk.accepted:
        return "Compactions saw again what earlier ones had removed, but none fits the stored rows."
    return (
        f"{walk.accepted} of {len(records)} records add up with stored rows that no compaction "
        "replaced."
    )


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


def _is_mended(message: Message) -> bool:
    """Whether repair put this message in: only what was written back can hold it."""
    return message.is_tool_result and message.content == UNAVAILABLE


def _begins_compacted(history: History) -> bool:
    return bool(history.messages) and history.messages[0].content.startswith(COMPACTION_MARKER)
