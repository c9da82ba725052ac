"""The write-back generation: what a compaction left replaced the stored rows.

So the rows are the product of the last compaction that took effect, and what came after it. From
there one can go backwards, as long as a compaction only moved results to files: those can be put
back. One that summarised or cut is where the trail ends: what it left is still there, what it
replaced is gone, and so is everything earlier.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from compaction.messages import Message
from compaction.provenance import Draft, Drop, Fate, Slot
from compaction.reconstruct.bounds import LARGEST, Bounds, missing_bytes
from compaction.reconstruct.fits import Fit, Walk, best_of, weighed
from compaction.reconstruct.history import History
from compaction.reconstruct.layers import Version
from compaction.reconstruct.memory import Weights, as_seen
from compaction.reconstruct.model import Evidence, Verdict, View
from compaction.reconstruct.rebuild import SYSTEM, Kind, Move, rebuild, summary_message
from compaction.reconstruct.scales import Scales
from compaction.records import CompactionRecord
from compaction.repair import UNAVAILABLE
from compaction.strategies.progressive import SUMMARY_FAILED
from compaction.tiers import Tier

_UNKNOWN = Message("user")
"""Stands in for a message that nothing is left of."""


def best_walk(history: History, records: Sequence[CompactionRecord]) -> Walk:
    """The try, from the last record backwards, that fits the most records to the rows."""
    order = range(len(records) - 1, -1, -1)

    def walk(system: Bounds, seed: int) -> Walk:
        return _walk(history, records, order[seed:], system)

    return best_of(walk, records, order)


def walk_from(history: History, records: Sequence[CompactionRecord], known: Walk) -> Walk:
    """The walk back from the last of `records`, with a system prompt as `known` has it."""
    return _walk(history, records, range(len(records) - 1, -1, -1), known.system)


@dataclass(slots=True)
class _Trail:
    """The list as it was at some moment: the first `length` stored rows, some of them changed."""

    length: int
    seen: dict[int, Version] = field(default_factory=dict)
    depth: dict[int, int] = field(default_factory=dict)
    """How many layers were taken off each changed row."""
    end: int | None = None
    """The record before which nothing is known any more."""


def _walk(
    history: History, records: Sequence[CompactionRecord], order: Sequence[int], system: Bounds
) -> Walk:
    fits: dict[int, Fit] = {}
    trail = _Trail(len(history))
    for index in order:
        if trail.end is not None:
            fits[index] = Fit(misfit=_replaced(trail.end))
            continue
        fit = _fit(history, trail, records[index], system)
        if fit.fits:
            system = system.meet(fit.system)
            if fit.build is not None:
                trail.end = index
        elif took_effect(records[index]):
            fit = replace(fit, misfit=f"what it left is not what is stored: {fit.misfit}")
            trail.end = index
        fits[index] = fit
    untried = Fit(misfit="it was not tried")
    return Walk(tuple(fits.get(index, untried) for index in range(len(records))), system)


def _replaced(end: int) -> str:
    return f"the rows it saw were replaced by what compaction {end + 1} left"


def took_effect(record: CompactionRecord) -> bool:
    """Whether the write-back generation replaces the rows by what this compaction left."""
    reduced = (
        record.msgs_after < record.msgs_before
        or record.tokens_after < record.tokens_before
        or bool(record.offloaded)
    )
    return reduced and (not record.error or record.tier == Tier.EMERGENCY)


def _fit(history: History, trail: _Trail, record: CompactionRecord, system: Bounds) -> Fit:
    if not Tier.WARN <= record.tier <= Tier.EMERGENCY or record.msgs_before < 2:
        return Fit(misfit=f"a record of tier {record.tier} over {record.msgs_before} messages")
    if not took_effect(record):
        return _passing(history, trail, record, system)
    if record.msgs_after - 1 > trail.length:
        says = f"it left {record.msgs_after - 1} messages, but only {trail.length} are stored"
        return Fit(misfit=says)
    if not _is_rewritten(history, record.msgs_after - 1):
        return Fit(misfit="the rows it left were not saved together")
    if record.tier == Tier.WARN:
        return _undone(history, trail, record, system)
    return _product(history, trail, record, system)


def _is_rewritten(history: History, length: int) -> bool:
    return length < 1 or length <= history.runs[0].stop


def _passing(history: History, trail: _Trail, record: CompactionRecord, system: Bounds) -> Fit:
    """A record that changed no rows: what it saw is the beginning of what is known."""
    count = record.msgs_before - 1
    if count >= trail.length or history.messages[count].role != "assistant":
        says = f"it saw {count} messages before a call whose answer is not stored"
        return Fit(misfit=says)
    seen = {row: version for row, version in trail.seen.items() if row < count}
    scales = Scales(history, record, seen)
    system = system.meet(missing_bytes(record.tokens_before, scales.before))
    if system.is_empty:
        return Fit(misfit="its tokens do not add up with the stored rows")
    failed = record.error.startswith(SUMMARY_FAILED)
    plans = scales.failed(()) if failed else iter((scales.plan(Kind.NOTHING),))
    tries = [weighed(scales, record, plan, system, of_these_rows=False) for plan in plans]
    fallback = Fit(misfit="what it left does not come out as recorded")
    fit = next((one for one in tries if one.fits), fallback)
    if fit.fits:
        trail.length = count
    return fit


def _undone(history: History, trail: _Trail, record: CompactionRecord, system: Bounds) -> Fit:
    """A record that moved results to files: they are put back."""
    count = record.msgs_before - 1
    if record.msgs_after != record.msgs_before:
        return Fit(misfit="it also mended tool pairs")
    depth = {row: at for row, at in trail.depth.items() if row < count}
    seen = {row: version for row, version in trail.seen.items() if row < count}
    moves = list(_moves(history, record, depth, seen))
    if len(moves) < len(record.offloaded or ()):
        return Fit(misfit="the results it moved away do not stand where it left them")
    scales = Scales(history, record, seen)
    plan = scales.plan(Kind.OFFLOAD, tuple(moves))
    system = system.meet(missing_bytes(record.tokens_before, scales.before))
    if system.is_empty:
        return Fit(misfit="its tokens do not add up with the stored rows")
    fit = weighed(scales, record, plan, system, of_these_rows=True)
    if fit.fits:
        trail.length, trail.seen, trail.depth = count, seen, depth
    return fit


def _moves(
    history: History, record: CompactionRecord, depth: dict[int, int], seen: dict[int, Version]
) -> Iterator[Move]:
    """The record's moves, each taken back in `depth` and `seen` at once."""
    taken: set[int] = set()
    for entry in record.offloaded or ():
        for row in history.pairs.results_of(entry.tool_call_id):
            versions = history.versions.get(row, ())
            at = len(versions) - 2 - depth.get(row, 0)
            if row >= record.msgs_before - 1 or row in taken or at < 0:
                continue
            if (versions[at].bytes, versions[at].lines) == (entry.bytes, entry.lines):
                taken.add(row)
                depth[row] = depth.get(row, 0) + 1
                seen[row] = versions[at]
                yield Move(row, entry, versions[at + 1])
                break


def _product(history: History, trail: _Trail, record: CompactionRecord, system: Bounds) -> Fit:
    """A record that summarised or cut: only what it left is known."""
    length = record.msgs_after - 1
    known = {row: version for row, version in trail.seen.items() if row < length}
    size = Weights(history, known).first(length)
    is_evidence = length > 0 and system.high < LARGEST
    system = system.meet(missing_bytes(record.tokens_after, size))
    if system.is_empty:
        return Fit(misfit="its tokens do not add up with the stored rows")
    rows = tuple(
        as_seen(message, known[row]) if row in known else message
        for row, message in enumerate(history.messages[:length])
    )
    summarised = record.tier != Tier.EMERGENCY
    if summarised and (not rows or rows[0] != summary_message(record)):
        return Fit(misfit="the stored rows do not begin with its summary")
    unheard = _Left(rows, record).parts()
    if unheard is None:
        return Fit(misfit="it left more messages than it saw")
    return Fit(
        system=system,
        is_telling=summarised,
        of_these_rows=True,
        is_evidence=summarised or is_evidence,
        build=partial(_view, unheard),
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """One message of the outcome, or a stretch of what it replaced."""

    message: Message
    fate: Fate
    unknown: int = 0
    """Messages that went into it and are gone."""


@dataclass(frozen=True, slots=True)
class _Left:
    """What a compaction left, from which the shape of what it saw is told."""

    rows: tuple[Message, ...]
    record: CompactionRecord

    def parts(self) -> tuple[_Part, ...] | None:
        """Outcome and gaps in order; None where the counts leave no room for what was kept."""
        summarised = self.record.tier != Tier.EMERGENCY
        kept = [_Part(row, self._fate(row)) for row in self.rows[summarised:]]
        survivors = sum(part.fate is Fate.KEPT for part in kept)
        gone = self.record.msgs_before - 1 - survivors
        swallowed = self.record.summarized if summarised else 0
        cut = gone - swallowed
        if cut < 0 or swallowed < 0:
            return None
        hole = [_Part(_UNKNOWN, Fate.DROPPED, cut)] if cut else []
        if summarised:
            fate = Fate.SUMMARISED if swallowed else Fate.INSERTED
            return (_Part(self.rows[0], fate, swallowed), *hole, *kept)
        # The released Emergency keeps the task as well, so that its hole comes after it.
        task = 1 if len(kept) > 1 else 0
        return (*kept[:task], *hole, *kept[task:])

    def _fate(self, row: Message) -> Fate:
        # A summary takes whole pairs from the front; only a forced cut leaves calls unanswered.
        forced = self.record.tier == Tier.EMERGENCY
        inserted = forced and row.is_tool_result and row.content == UNAVAILABLE
        return Fate.INSERTED if inserted else Fate.KEPT


def _view(parts: Sequence[_Part]) -> View:
    before: list[Message] = [SYSTEM]
    slots = [Slot(SYSTEM, Fate.KEPT, (0,))]
    drops: list[Drop] = []
    unknown = {0}
    for part in parts:
        start = len(before)
        before += [_UNKNOWN] * part.unknown
        sources = tuple(range(start, start + part.unknown))
        unknown.update(sources)
        if part.fate is Fate.DROPPED:
            drops += [Drop(source, "cut away; its text is gone") for source in sources]
        elif part.fate is Fate.KEPT:
            before.append(part.message)
            slots.append(Slot(part.message, Fate.KEPT, (start,)))
        else:
            slots.append(Slot(part.message, part.fate, sources))
    return View(tuple(before), Draft(tuple(slots), tuple(drops)), frozenset(unknown))


def verdicts(
    history: History, records: Sequence[CompactionRecord], walk: Walk
) -> tuple[Verdict, ...]:
    """What `walk` says about each record."""
    return tuple(
        _verdict(history, record, fit, walk) for record, fit in zip(records, walk.fits, strict=True)
    )


def _verdict(history: History, record: CompactionRecord, fit: Fit, walk: Walk) -> Verdict:
    if not fit.fits:
        says = f"{fit.misfit[:1].upper()}{fit.misfit[1:]}."
        return Verdict(record, Evidence.UNAVAILABLE, says)
    if fit.build is not None:
        return Verdict(record, Evidence.UNVERIFIED, _half(record, walk), fit.build)
    assert fit.plan is not None
    build = partial(rebuild, history.messages, record, fit.plan)
    if not fit.is_telling and walk.accepted < 2:
        says = "Rebuilt, but nothing checks it: it changed nothing, and no other record fits."
        return Verdict(record, Evidence.UNVERIFIED, says, build)
    says = f"Its messages and tokens add up with a system prompt of {walk.system} bytes."
    return Verdict(record, Evidence.VERIFIED, says + fit.plan.regrets, build)


def _half(record: CompactionRecord, walk: Walk) -> str:
    says = f"What it left is stored and adds up with a system prompt of {walk.system} bytes, but "
    if record.tier == Tier.EMERGENCY:
        return says + (
            "the messages it cut away were overwritten, and where each of them stood is not known."
        )
    return f"{says}the {record.summarized} messages it summarised were overwritten."
