"""From a plan to a view: the engine's own steps, applied to what was seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from compaction.budget import OVER_BUDGET, forced_cut
from compaction.messages import Message
from compaction.provenance import Draft, Fate, Slot
from compaction.reconstruct.layers import Version
from compaction.reconstruct.memory import as_seen
from compaction.reconstruct.model import View
from compaction.records import CompactionRecord, OffloadEntry
from compaction.repair import repair
from compaction.rules import ForcedCut
from compaction.strategies.progressive import replace_range
from compaction.summary import compaction_message

SYSTEM = Message("system")
"""Stands in for the system prompt, which is never stored."""


class Kind(StrEnum):
    """What a compaction did to its list."""

    NOTHING = "nothing"
    OFFLOAD = "offload"
    SUMMARY = "summary"
    BUDGET_CUT = "budget cut"
    FORCED_CUT = "forced cut"


@dataclass(frozen=True, slots=True)
class Move:
    """A row that was moved to a file, and the placeholder it left."""

    row: int
    entry: OffloadEntry
    to: Version


@dataclass(frozen=True, slots=True)
class Plan:
    """One compaction over the first `count` rows, small enough to be kept for every record."""

    kind: Kind
    count: int
    seen: Mapping[int, Version] = field(default_factory=dict)
    """Rows that had another text then than the stored one."""
    moves: tuple[Move, ...] = ()
    summarised: int = 0
    kept_head: int = 0
    """Rows before the hole of a budget cut."""
    kept_tail: int = 0
    """Rows after it."""

    @property
    def regrets(self) -> str:
        """A sentence about seen texts that are gone; empty when all are there."""
        gone = sum(version.text is None for version in self.seen.values())
        if not gone:
            return ""
        return f" The text of {gone} of the results it saw is gone; only their size is known."


def rebuild(rows: Sequence[Message], record: CompactionRecord, plan: Plan) -> View:
    """The view of `record`, from stored `rows`."""
    seen = [
        as_seen(message, plan.seen[index]) if index in plan.seen else message
        for index, message in enumerate(rows[: plan.count])
    ]
    before = (SYSTEM, *seen)
    gone = (index + 1 for index, version in plan.seen.items() if version.text is None)
    return View(before, _draft(before, record, plan), frozenset((0, *gone)))


def _draft(before: tuple[Message, ...], record: CompactionRecord, plan: Plan) -> Draft:
    draft = _moved(Draft.of(before), plan.moves)
    match plan.kind:
        case Kind.OFFLOAD:
            return repair(draft)
        case Kind.SUMMARY:
            return repair(
                replace_range(draft, range(1, plan.summarised + 1), summary_message(record))
            )
        case Kind.BUDGET_CUT:
            stop = len(before) - plan.kept_tail
            wanted = [i <= plan.kept_head or i >= stop for i in range(len(before))]
            return repair(draft.keep(wanted, OVER_BUDGET))
        case Kind.FORCED_CUT:
            return forced_cut(draft, ForcedCut.NEWEST)
    return draft


def summary_message(record: CompactionRecord) -> Message:
    """The message that took the place of what `record` summarised."""
    return compaction_message(record.anchors or (), record.summary_text, record.offloaded or ())


def products(rows: Sequence[Message], records: Sequence[CompactionRecord]) -> list[int]:
    """The records whose summary the stored rows begin with; several may say the same."""
    return [
        index
        for index, record in enumerate(records)
        if rows and record.anchors is not None and rows[0] == summary_message(record)
    ]


def _moved(draft: Draft, moves: Iterable[Move]) -> Draft:
    slots = list(draft.slots)
    for move in moves:
        slots[move.row + 1] = _placeholder(slots[move.row + 1], move)
    return replace(draft, slots=tuple(slots))


def _placeholder(slot: Slot, move: Move) -> Slot:
    message = as_seen(slot.message, move.to)
    reason = f"moved to {move.entry.file_path}"
    return replace(slot, message=message, fate=Fate.OFFLOADED, reason=reason)
