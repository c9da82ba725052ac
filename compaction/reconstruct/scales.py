"""What a plan would come to, in messages and bytes, without carrying it out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from compaction.reconstruct.bounds import ANY_WINDOW, Bounds, window_of_budget
from compaction.reconstruct.history import History
from compaction.reconstruct.layers import Version
from compaction.reconstruct.memory import Weights
from compaction.reconstruct.rebuild import Kind, Move, Plan, summary_message
from compaction.records import CompactionRecord
from compaction.settings import DEFAULT_MIN_TAIL
from compaction.strategies.progressive import SUMMARY_FAILED
from compaction.tokens import BYTES_PER_TOKEN, message_bytes

_FALLBACK_TAIL = DEFAULT_MIN_TAIL
_SEARCH = 32
"""How far repair may put the length of a cut list away from what was cut."""


class Scales:
    """Weighs what one record may have done to the rows it saw."""

    def __init__(
        self, history: History, record: CompactionRecord, seen: Mapping[int, Version]
    ) -> None:
        self.count = record.msgs_before - 1
        self.seen = seen
        self._history = history
        self._record = record
        self._weights = Weights(history, seen)

    @cached_property
    def before(self) -> int:
        """Bytes of what the record saw, without the system prompt."""
        return self._weights.first(self.count)

    def plan(self, kind: Kind, moves: tuple[Move, ...] = ()) -> Plan:
        """A plan over what the record saw."""
        return Plan(kind, self.count, self.seen, moves)

    def after(self, plan: Plan) -> tuple[int, int]:
        """Messages that `plan` leaves, the system's included, and their bytes without it."""
        if plan.kind is Kind.NOTHING or (plan.kind is Kind.FORCED_CUT and self.count < 2):
            return 1 + self.count, self._moved(plan).first(self.count)
        weights = self._moved(plan)
        messages, size = 1, 0
        if plan.kind is Kind.SUMMARY:
            messages, size = 2, message_bytes(summary_message(self._record))
        kept = self._kept(plan)
        for stretch in kept:
            messages += len(stretch)
            size += weights.first(stretch.stop) - weights.first(stretch.start)
        mended = self._history.pairs.effect(kept, weights.of)
        return messages + mended.messages, size + mended.bytes

    def failed(self, moves: tuple[Move, ...]) -> Iterator[Plan]:
        """What the fallback after a failed summary may have cut, by the messages it left."""
        if self._record.msgs_after == self._record.msgs_before:
            yield self.plan(Kind.NOTHING, moves)
        likely = self._record.msgs_after - 1 - _FALLBACK_TAIL
        start, stop = max(likely - _SEARCH, 0), min(likely + _SEARCH, self.count - _FALLBACK_TAIL)
        for kept in sorted(range(start, stop), key=lambda one: abs(one - likely)):
            cut = self.plan(Kind.BUDGET_CUT, moves)
            cut = replace(cut, kept_head=kept, kept_tail=_FALLBACK_TAIL)
            if self.after(cut)[0] == self._record.msgs_after:
                yield cut

    def window(self, plan: Plan, system: Bounds) -> Bounds:
        """The windows at which a failed summary is cut as `plan` has it."""
        if not self._record.error.startswith(SUMMARY_FAILED) or self.count <= _FALLBACK_TAIL:
            return ANY_WINDOW
        weights = self._moved(plan)
        whole = weights.first(self.count)
        if plan.kind is Kind.NOTHING:
            return window_of_budget((system.low + whole) // BYTES_PER_TOKEN, None)
        size = weights.first(plan.kept_head) + whole - weights.first(self.count - plan.kept_tail)
        fits = (system.low + size) // BYTES_PER_TOKEN if plan.kept_head else 0
        more = (system.high + size + weights.of(plan.kept_head)) // BYTES_PER_TOKEN
        return window_of_budget(fits, more)

    def _moved(self, plan: Plan) -> Weights:
        if not plan.moves:
            return self._weights
        return Weights(self._history, {**self.seen, **{one.row: one.to for one in plan.moves}})

    def _kept(self, plan: Plan) -> Sequence[range]:
        match plan.kind:
            case Kind.SUMMARY:
                return (range(plan.summarised, self.count),)
            case Kind.BUDGET_CUT:
                return range(plan.kept_head), range(self.count - plan.kept_tail, self.count)
            case Kind.FORCED_CUT:
                return (range(self.count - 1, self.count),)
        return (range(self.count),)
