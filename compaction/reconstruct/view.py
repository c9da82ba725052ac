"""The view generation: every record saw a beginning of the stored rows.

A record made before a model call saw the rows up to `msgs_before` - 1; the row that follows is
the call's answer. What it saw plus the system prompt has `tokens_before`; the prompt's size is
not stored, but it is the same for all records, so that one of them tells it and the others are
checked by it (facts: harness9 §7).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from compaction.offload import HOOK_PREFIX, file_path
from compaction.reconstruct.bounds import LARGEST, Bounds, missing_bytes, window_of
from compaction.reconstruct.fits import Fit, Walk, best_of, weighed
from compaction.reconstruct.history import History, is_large
from compaction.reconstruct.memory import Memory
from compaction.reconstruct.model import Evidence, Verdict
from compaction.reconstruct.quiet import without_hushed_runs
from compaction.reconstruct.rebuild import Kind, Move, Plan, products, rebuild
from compaction.reconstruct.scales import Scales
from compaction.records import CompactionRecord, OffloadEntry
from compaction.strategies.progressive import SUMMARY_FAILED
from compaction.tiers import Tier

_LONGEST_TAIL = 21
"""Tails to try for a failed summary, whose record does not tell it."""


def best_walk(history: History, records: Sequence[CompactionRecord], tail: int) -> Walk:
    """The try that fits the most records to the rows."""
    missing = {index: Fit(misfit=_overtaken(by)) for index, by in _outrun(records).items()}
    for first in products(history.messages, records)[:1]:
        # Until it was made, its summary cannot have stood in front of the rows.
        says = f"the rows it saw were replaced by what compaction {first + 1} left"
        missing.update((index, Fit(misfit=says)) for index in range(first))
    order = [index for index in range(len(records)) if index not in missing]

    window = window_of(records)

    def walk(system: Bounds, seed: int) -> Walk:
        found = _walk(history, records, missing, order[seed:], tail, system)
        return without_hushed_runs(history, found, window)

    best = best_of(walk, records, order)
    return _with_other_prompts(history, records, best, tail)


def _with_other_prompts(
    history: History, records: Sequence[CompactionRecord], walk: Walk, tail: int
) -> Walk:
    """`walk`, with the runs in which the system prompt had another size.

    That is believed only of a run in which several records agree on it.
    """
    fits = list(walk.fits)
    for order in _misfits_by_run(history, walk):

        def alone(system: Bounds, seed: int, order: Sequence[int] = order) -> Walk:
            return _walk(history, records, {}, order[seed:], tail, system)

        found = best_of(alone, [records[index] for index in order], order)
        if found.accepted >= 2 and 2 * found.accepted > len(order):
            for index in order:
                fits[index] = found.fits[index]
    return replace(walk, fits=tuple(fits))


def _misfits_by_run(history: History, walk: Walk) -> Iterator[list[int]]:
    """Records that only the system prompt's size keeps from fitting, where a whole run is so."""
    runs: dict[range, list[int]] = {}
    fitting: set[range] = set()
    for index, fit in enumerate(walk.fits):
        if fit.plan is not None:
            run = history.run_at(fit.plan.count)
            runs.setdefault(run, []).append(index)
            if fit.fits:
                fitting.add(run)
    yield from (order for run, order in runs.items() if run not in fitting)


def _outrun(records: Sequence[CompactionRecord]) -> dict[int, int]:
    """Records that saw as many messages as a later one, or more: to that one.

    Stored rows only grow, so what they saw beyond was never saved.
    """
    found: dict[int, int] = {}
    least, at = LARGEST, -1
    for index in range(len(records) - 1, -1, -1):
        if records[index].msgs_before >= least:
            found[index] = at
        else:
            least, at = records[index].msgs_before, index
    return found


def _overtaken(later: int) -> str:
    return f"compaction {later + 1} came later and saw no more messages than this one"


def _walk(
    history: History,
    records: Sequence[CompactionRecord],
    missing: Mapping[int, Fit],
    order: Sequence[int],
    tail: int,
    system: Bounds,
) -> Walk:
    fits = dict(missing)
    memory: Memory | None = None
    for index in order:
        record = records[index]
        fit = _misplaced(history, record)
        if fit is None:
            run = history.run_at(record.msgs_before - 1)
            if memory is None or memory.run != run:
                memory = Memory(history, run)
            fit = _Trial(history, memory, record, system, tail).fit()
            if not fit.system.is_empty:
                system = system.meet(fit.system)
        fits[index] = fit
    untried = Fit(misfit="it was not tried")
    return Walk(tuple(fits.get(index, untried) for index in range(len(records))), system)


def _misplaced(history: History, record: CompactionRecord) -> Fit | None:
    """What keeps a record from having a place among the rows; None when it has one."""
    count = record.msgs_before - 1
    if not Tier.WARN <= record.tier <= Tier.EMERGENCY:
        return Fit(misfit=f"its tier {record.tier} is not one that leaves records")
    if count < 1:
        return Fit(misfit="it saw no messages")
    if count >= len(history):
        says = f"it saw {count} messages before a call, but only {len(history)} are stored"
        return Fit(misfit=says)
    if history.messages[count].role != "assistant":
        return Fit(misfit=f"the row after the {count} messages it saw is not a model's answer")
    if count - 1 not in history.run_at(count):
        return Fit(misfit=f"a run ends after the {count} messages it saw, where a call should be")
    return None


class _Trial:
    """One record against the rows as they stood when it was made."""

    def __init__(
        self, history: History, memory: Memory, record: CompactionRecord, system: Bounds, tail: int
    ) -> None:
        self.history = history
        self.memory = memory
        self.record = record
        self.system = system
        self.tail = tail
        count = record.msgs_before - 1
        self.scales = Scales(history, record, memory.changes(count))

    def fit(self) -> Fit:
        """Tries the record; where it has a place, memory goes on to what it left behind."""
        moves = self._listed()
        if moves is None:
            says = "it moved results away that are not among the stored rows in that size"
            return Fit(misfit=says, system=Bounds(1, 0))
        told = missing_bytes(self.record.tokens_before, self.scales.before)
        system = self.system.meet(told)
        if system.is_empty:
            return self._off(told, moves)
        chosen = self._chosen(moves, system)
        for move in chosen.plan.moves if chosen.plan else ():
            self.memory.move(move.row, move.to)
        return chosen

    def _off(self, told: Bounds, moves: tuple[Move, ...]) -> Fit:
        says = (
            f"the stored messages it would have seen leave {told} bytes for the system prompt, "
            f"which has {self.system}"
        )
        plan = next(self._plans(moves), self.scales.plan(Kind.NOTHING, moves))
        return Fit(plan, says, Bounds(1, 0), of_these_rows=self._is_of_this_run(moves))

    def _chosen(self, moves: tuple[Move, ...], system: Bounds) -> Fit:
        """The first plan that fits, else the likeliest."""
        named = self._is_of_this_run(moves)
        tries = [
            weighed(self.scales, self.record, plan, system, of_these_rows=named)
            for plan in self._plans(moves)
        ]
        fitting = [one for one in tries if one.fits]
        if fitting:
            # Where several cuts fit, the window may be that of any of them.
            low = min(one.window.low for one in fitting)
            high = max(one.window.high for one in fitting)
            return replace(fitting[0], window=Bounds(low, high))
        says = "no cut of what it saw comes out as recorded"
        plan = self.scales.plan(Kind.NOTHING, moves)
        return tries[0] if tries else Fit(plan, says, system, of_these_rows=True)

    def _is_of_this_run(self, moves: tuple[Move, ...]) -> bool:
        # Results of earlier runs are there for a lost run to move, too.
        return any(move.row in self.memory.run for move in moves)

    def _listed(self) -> tuple[Move, ...] | None:
        """The rows that the record says were moved; None when they are not to be found."""
        moves: list[Move] = []
        for entry in self.record.offloaded or ():
            move = self._move_of(entry, {one.row for one in moves})
            if move is None:
                return None
            moves.append(move)
        return tuple(moves)

    def _move_of(self, entry: OffloadEntry, taken: set[int]) -> Move | None:
        for row in self.history.pairs.results_of(entry.tool_call_id):
            if row >= self.scales.count or row in taken:
                continue
            current = self.memory.current(row)
            if (current.bytes, current.lines) == (entry.bytes, entry.lines):
                to = self.memory.next(row, entry.file_path)
                if to is not None:
                    return Move(row, entry, to)
        return None

    def _plans(self, moves: tuple[Move, ...]) -> Iterator[Plan]:
        """What the record may have done, likeliest first."""
        record, scales = self.record, self.scales
        if record.tier == Tier.EMERGENCY:
            yield scales.plan(Kind.FORCED_CUT)
        elif record.error.startswith(SUMMARY_FAILED):
            for unlisted in self._unlisted():
                yield from scales.failed(unlisted)
        elif record.tier == Tier.WARN:
            yield scales.plan(Kind.OFFLOAD, moves)
            yield scales.plan(Kind.NOTHING, moves)
        elif record.anchors is not None and 0 <= record.summarized <= scales.count:
            yield replace(scales.plan(Kind.SUMMARY, moves), summarised=record.summarized)
        else:
            yield scales.plan(Kind.NOTHING, moves)

    def _unlisted(self) -> Iterator[tuple[Move, ...]]:
        """What may have been moved away before the summary failed: no record lists it."""
        tried: set[tuple[int, ...]] = set()
        for tail in (self.tail, *range(1, _LONGEST_TAIL)):
            head = max(self.scales.count - tail, 0)
            older = range(head // 2 if self.record.tier == Tier.SOFT else head)
            moves = tuple(filter(None, map(self._unlisted_move, self.history.large_in(older))))
            rows = tuple(move.row for move in moves)
            if rows not in tried:
                tried.add(rows)
                yield moves
        if () not in tried:
            yield ()

    def _unlisted_move(self, row: int) -> Move | None:
        current = self.memory.current(row)
        if not is_large(current) or (current.text or "").startswith(HOOK_PREFIX):
            return None
        call_id = self.history.messages[row].tool_call_id
        path = file_path(self.record.session_id, call_id)
        to = self.memory.next(row, path)
        if to is None:
            return None
        return Move(row, OffloadEntry(call_id, "", path, current.bytes, current.lines), to)


def verdicts(
    history: History, records: Sequence[CompactionRecord], walk: Walk
) -> tuple[Verdict, ...]:
    """What `walk` says about each record."""
    return tuple(_verdict(history, record, index, walk) for index, record in enumerate(records))


def _verdict(history: History, record: CompactionRecord, index: int, walk: Walk) -> Verdict:
    fit = walk.fits[index]
    if not (fit.of_these_rows or fit.fits or _is_within_a_run(history, record, walk, index)):
        says = f"The run was never saved: {fit.misfit}."
        return Verdict(record, Evidence.UNAVAILABLE, says)
    if fit.plan is None:
        says = f"It does not go with the stored rows: {fit.misfit}."
        return Verdict(record, Evidence.UNAVAILABLE, says)
    build = partial(rebuild, history.messages, record, fit.plan)
    if not fit.fits:
        return Verdict(record, Evidence.UNVERIFIED, f"Rebuilt, but {fit.misfit}.", build)
    if walk.accepted < 2 and not _tells_of_its_run(record, fit):
        says = (
            "Rebuilt, but nothing checks it: it is the only record that fits the stored rows, and "
            "it did nothing to those of its run."
        )
        return Verdict(record, Evidence.UNVERIFIED, says, build)
    says = f"Its messages and tokens add up with a system prompt of {walk.system} bytes."
    if walk.system.meet(fit.system).is_empty:
        says = (
            f"The records of its run add up with a system prompt of {fit.system} bytes; in other "
            f"runs it has {walk.system}."
        )
    return Verdict(record, Evidence.VERIFIED, says + fit.plan.regrets, build)


def _tells_of_its_run(record: CompactionRecord, fit: Fit) -> bool:
    # Moving a result of an earlier run shows that that run was saved, and nothing of this one.
    return fit.is_telling and (record.tier != Tier.WARN or fit.of_these_rows)


def _is_within_a_run(history: History, record: CompactionRecord, walk: Walk, index: int) -> bool:
    """Whether an earlier record belongs into the same run.

    A lost run lies between saved ones, so its records come before all of the next saved run.
    """
    if _misplaced(history, record) is not None:
        return False
    run = history.run_at(record.msgs_before - 1)
    return any(
        (fit.fits or fit.of_these_rows) and fit.plan is not None and fit.plan.count in run
        for fit in walk.fits[:index]
    )
